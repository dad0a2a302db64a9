const NAME_LENGTH_MAX = 60;

/** Names a chat after its first user message, cut at a word at 60 characters. */
export function sessionName(message: string): string {
  const line = message.trim().replaceAll(/\s+/g, " ");
  const characters = [...line];
  if (characters.length <= NAME_LENGTH_MAX) return line;
  const cut = characters.slice(0, NAME_LENGTH_MAX).join("");
  if (characters[NAME_LENGTH_MAX] === " ") return cut;
  const lastSpace = cut.lastIndexOf(" ");
  return lastSpace > 0 ? cut.slice(0, lastSpace) : cut;
}
