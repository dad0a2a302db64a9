/** Standard input without its final line ending: for secrets, which other users of the machine see in a command's arguments. */
export async function readStdin(): Promise<string> {
  return (await Bun.stdin.text()).replace(/\r?\n$/, "");
}
