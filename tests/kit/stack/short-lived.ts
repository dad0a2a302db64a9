/**
 * The engine's settings for a stack whose processes end after some seconds: without its optimizing compilers, and with garbage
 * collected by the program's own thread, they take a quarter less CPU to start. After some 800 requests they take as much.
 */
export const SHORT_LIVED = { BUN_JSC_useDFGJIT: "0", BUN_JSC_useConcurrentGC: "0" } as const;

/** The engine's own settings. */
export const LONG_LIVED = { BUN_JSC_useDFGJIT: "1", BUN_JSC_useConcurrentGC: "1" } as const;
