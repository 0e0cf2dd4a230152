"""The JSON schema of the spec file, for editors: shipped as ``spec.schema.json``, made by ``make spec-schema``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from arena_server.coordinator.settings import Settings

PATH = Path(__file__).with_name("spec.schema.json")
"""Where it is shipped."""


def text() -> str:
    """The schema as it is shipped."""
    schema: dict[str, Any] = {
        "$schema": GenerateJsonSchema.schema_dialect,
        **Settings.model_json_schema(schema_generator=_WithoutNull),
        "title": "A tournament of the arena",
    }
    return json.dumps(schema, indent=2) + "\n"


class _WithoutNull(GenerateJsonSchema):
    """TOML has no null: what was not said is not there."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        found = super().default_schema(schema)
        return {key: value for key, value in found.items() if key != "default" or value not in (None, {}, [])}

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - given by pydantic
        return False


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
