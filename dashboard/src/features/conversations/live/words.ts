/** What has been said of messages in progress, by role. */
export type Words = Readonly<Partial<Record<"user" | "assistant", string>>>;

/** The event `message`. */
export interface Told {
  seq: number;
  final: boolean;
  role: "user" | "assistant";
  offset: number;
  content: string;
}

/** The words in progress after an event. */
export function wordsAfter(before: Words, { role, final, offset, content }: Told): Words {
  if (final) return { ...before, [role]: undefined };
  const standing = [...(before[role] ?? "")].slice(0, offset).join("");
  return { ...before, [role]: standing + content };
}
