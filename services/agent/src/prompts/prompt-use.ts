/** Which prompt of an owner, and which version of it; null: the latest at the time it is read. */
export interface PromptUse {
  ownerId: string;
  promptName: string;
  promptVersion: number | null;
}
