/* A bot for `arena bridge`: any legal move, each as likely as the others. The lines are told in docs/bridge.md.
 *
 *     cc -O2 -o bot bot.c
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 1 << 20, MOVES = 1 << 14 };

static char line[LINE], listed[LINE];
static uint64_t dice = 1;

static uint64_t roll(void) { /* xorshift64 */
    dice ^= dice << 13;
    dice ^= dice >> 7;
    dice ^= dice << 17;
    return dice;
}

static const char *choose(char *moves) {
    static char *each[MOVES];
    size_t count = 0;
    for (char *move = strtok(moves, " "); move && count < MOVES; move = strtok(NULL, " ")) each[count++] = move;
    return count ? each[roll() % count] : "";
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0); /* else a line waits in a buffer while the clock runs */
    while (fgets(line, LINE, stdin)) {
        line[strcspn(line, "\n")] = 0;
        char *rest = strchr(line, ' ');
        rest = rest ? (*rest = 0, rest + 1) : "";
        if (!strcmp(line, "seed")) dice = strtoull(rest, NULL, 10) | 1; /* its games can be replayed */
        else if (!strcmp(line, "start")) puts("ready");
        else if (!strcmp(line, "moves")) strcpy(listed, rest);
        else if (!strcmp(line, "go")) printf("move %s\n", choose(listed));
        else if (!strcmp(line, "quit")) break;
    }
    return 0;
}
