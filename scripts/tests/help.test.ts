import { expect, test } from "bun:test";

test("`bun run help` has a sentence for every command and for no other", async () => {
  const { scripts, "scripts-info": sentences } = await Bun.file("package.json").json();
  expect(Object.keys(sentences)).toEqual(Object.keys(scripts));
  const printed = await Bun.$`${process.execPath} scripts/help.ts`.text();
  for (const [name, sentence] of Object.entries<string>(sentences))
    expect(printed).toMatch(new RegExp(`^bun run ${name} +${RegExp.escape(sentence)}$`, "m"));
});
