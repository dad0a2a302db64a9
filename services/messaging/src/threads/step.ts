/** What a step of a thread did: something, nothing at all, or nothing until a time. */
export type Step = "done" | null | Date;
