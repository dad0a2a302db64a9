/** Where a long text is cut, the best place first. */
const SEAMS = ["\n\n", "\n", ". ", " "];

/** Cuts a reply into texts that a channel takes, at the end of a paragraph, line, sentence or word where there is one. */
export function splitText(reply: string, charactersMax: number): string[] {
  const parts: string[] = [];
  let rest = reply.trim();
  while (rest.length > charactersMax) {
    const cut = cutOf(rest, charactersMax);
    parts.push(rest.slice(0, cut).trimEnd());
    rest = rest.slice(cut).trimStart();
  }
  return rest === "" ? parts : [...parts, rest];
}

function cutOf(text: string, charactersMax: number): number {
  const head = text.slice(0, charactersMax);
  for (const seam of SEAMS) {
    const at = head.lastIndexOf(seam);
    // A cut near the beginning would leave many short messages.
    if (at >= charactersMax / 2) return at + seam.length;
  }
  // Not within a character of two units.
  const last = head.charCodeAt(charactersMax - 1);
  return last >= 0xd8_00 && last <= 0xdb_ff ? charactersMax - 1 : charactersMax;
}
