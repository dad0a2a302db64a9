/** A prompt of an owner, and its version; null is the latest at the time of reading. */
export interface PromptUse {
  ownerId: string;
  promptName: string;
  promptVersion: number | null;
}
