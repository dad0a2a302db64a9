import { expect, test } from "bun:test";
import { conflictsOf, dropped, edited, joined, kept, NO_EDITS, unsaved } from "./edits.ts";

const STORED = { agent_name: "Front desk", prompt_content: "You are Ada.", first_message_prompt: "Hello" };
const MINE = edited(
  edited(NO_EDITS, { prompt_content: "You are Z" }, STORED),
  { prompt_content: "You are Zoe." },
  STORED,
);

test("only a field that was changed here and elsewhere, to another value, is a conflict", () => {
  expect(conflictsOf(MINE, STORED)).toEqual([]);
  expect(conflictsOf(MINE, { ...STORED, agent_name: "Reception" })).toEqual([]);
  expect(conflictsOf(MINE, { ...STORED, prompt_content: "You are Zoe." })).toEqual([]);
  const theirs = { ...STORED, prompt_content: "You are Bob." };
  expect(conflictsOf(MINE, theirs)).toEqual([{ field: "prompt_content", theirs: "You are Bob." }]);
  // Typing on does not hide it.
  const typed = edited(MINE, { prompt_content: "You are Zoe. Be brief." }, theirs);
  expect(conflictsOf(typed, theirs)).toHaveLength(1);
});

test("a named prompt that was chosen elsewhere conflicts with a text that was written here", () => {
  const theirs = { agent_name: "Front desk", prompt: { prompt_name: "refunds" } };
  expect(conflictsOf(MINE, theirs)).toEqual([{ field: "prompt_content", theirs: "refunds" }]);
});

test("a conflict is settled by keeping either value", () => {
  const theirs = { ...STORED, prompt_content: "You are Bob." };
  const mine = kept(MINE, "prompt_content", theirs);
  expect([mine.changes, conflictsOf(mine, theirs)]).toEqual([{ prompt_content: "You are Zoe." }, []]);
  expect(dropped(MINE, "prompt_content")).toEqual(NO_EDITS);
  const again = { ...STORED, prompt_content: "You are Eve." };
  expect(conflictsOf(mine, again)).toHaveLength(1);
});

test("text typed during a save stays a change of what was saved", () => {
  const typed = edited(MINE, { prompt_content: "You are Zoe. Be brief.", agent_name: "Reception" }, STORED);
  const saved = { ...STORED, prompt_content: "You are Zoe." };
  const left = unsaved(typed, MINE.changes, saved);
  expect(left.changes).toEqual({ prompt_content: "You are Zoe. Be brief.", agent_name: "Reception" });
  expect(conflictsOf(left, saved)).toEqual([]);
  expect(unsaved(MINE, MINE.changes, saved)).toEqual(NO_EDITS);
});

test("edits that were left join those made since, which count more, and still conflict with what changed in the meantime", () => {
  const now = { ...STORED, first_message_prompt: "Good day" };
  const since = edited(NO_EDITS, { agent_name: "Reception" }, now);
  const both = joined(edited(MINE, { agent_name: "Desk" }, STORED), since, now);
  expect(both.changes).toEqual({ prompt_content: "You are Zoe.", agent_name: "Reception" });
  expect(conflictsOf(both, now)).toEqual([]);
  expect(conflictsOf(both, { ...now, prompt_content: "You are Bob." })).toHaveLength(1);
  const named = joined(MINE, edited(NO_EDITS, { prompt: { prompt_name: "refunds" } }, now), now);
  expect(named.changes).toEqual({ prompt: { prompt_name: "refunds" } });
});
