/** The result of a step of a thread: something was done, nothing is to be done, or nothing until a time. */
export type Step = "done" | null | Date;
