"""The certificate of a server, looked at before anything is bound: gRPC does not say what is wrong with it."""

from __future__ import annotations

import ssl
from pathlib import Path

from arena_server.model import UserError

_BROKEN, _FOREIGN = "it is no PEM, or broken", "it belongs to another certificate"
_REASONS = {
    "": _BROKEN,
    "NO_CERTIFICATE_OR_CRL_FOUND": _BROKEN,
    "KEY_VALUES_MISMATCH": _FOREIGN,
    "KEY_TYPE_MISMATCH": _FOREIGN,
    "NO_CERTIFICATE_ASSIGNED": _FOREIGN,  # what OpenSSL 3 says of a key of another type
}


def check(certificate: Path, key: Path) -> None:
    """Whether TLS can be served with them.

    Raises:
        UserError: a file cannot be read, is not what it should be or is encrypted, or they do not belong together.
    """

    def encrypted() -> str:
        """Asked for the passphrase; without it OpenSSL would ask on the terminal."""
        fix = "take the passphrase off (openssl pkey -in KEY -out PLAIN), and keep that file safe"
        raise UserError("the private key is encrypted", key, fix)

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    what, path = "the certificate", certificate
    try:
        context.load_verify_locations(certificate)
        what, path = "the private key", key
        context.load_cert_chain(certificate, key, encrypted)
    except ssl.SSLError as error:
        reason = error.reason or ""
        why = _REASONS.get(reason, reason.replace("_", " ").lower())
        raise UserError(f"{what} cannot be used: {why}", path, "give a certificate chain and its key as PEM") from None
    except OSError as error:
        raise UserError(f"cannot read {what}: {error.strerror}", path, "check the path") from None
