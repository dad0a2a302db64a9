/** The runtime's settings for a program, which the operator's own replace. */
export function runtimeSettings(name: string): Record<string, string> {
  return {
    ...RARE_SWEEPS,
    ...(!COMPUTING.includes(name) && FEW_COMPILERS),
    ...(name === "conversation" && MANY_TURNS),
    ...(name === "webhook-dispatcher" && ALL_COMPILERS),
  };
}

/**
 * By default Bun's `fetch` makes 256 concurrent requests, and a streamed reply counts for as long as it lasts. And a heap may double
 * until the process takes a quarter of the machine's memory; the last variable (bytes) is what the engine takes for the machine's
 * memory. From half of it on, a heap may grow by a quarter only, and every collection is a full one, which stops the process for 15 ms.
 */
const MANY_TURNS = { BUN_CONFIG_MAX_HTTP_REQUESTS: "10000", BUN_JSC_forceRAMSize: "536870912" };

/** By default, Bun's allocator looks for memory to return every 100 ms: 5 to 8 % of the CPU of chat turns (bench/lessons.md). */
const RARE_SWEEPS = { MIMALLOC_PURGE_HOLES_MIN_INTERVAL: "2000" };

/**
 * The engine's last compiler took a tenth of the CPU of chat turns for as long as a process was young, and what it compiled was no
 * faster (bench/lessons.md). Processes that compute with audio keep it.
 */
const FEW_COMPILERS = { BUN_JSC_useFTLJIT: "0" };
const COMPUTING: readonly string[] = ["voice", "speech"];
/** A busy webhook dispatcher runs the same code thousands of times a second: a ninth less CPU for a delivery (bench/lessons.md). */
const ALL_COMPILERS = { BUN_JSC_useFTLJIT: "1" };
