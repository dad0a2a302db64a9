import { describe, expect, test } from "bun:test";
import type { Message } from "../src/model/ask.ts";
import { reply } from "../src/model/eliza.ts";
import { isGoodbye } from "../src/model/goodbye.ts";
import { agentName, userName } from "../src/model/names.ts";
import { reflect } from "../src/model/reflection.ts";
import { FAREWELL, OPENING, RECALL, RULES, UNHEARD } from "../src/model/rules.ts";
import { FAMILIES } from "../src/model/vocabulary.ts";

const system = (text: string): Message => ({ role: "system", text });
const user = (text: string): Message => ({ role: "user", text });
const ADA = system("You are Ada, the receptionist of Harbour Dental.");

describe("the rules", () => {
  const readings = [OPENING, FAREWELL, RECALL, UNHEARD, ...RULES.map((rule) => rule.readings)].flatMap(Object.entries);

  test.each(readings)(
    "the pattern %p names families that exist, and its answers only gaps it has",
    (pattern, answers) => {
      const tokens = pattern.split(" ");
      for (const token of tokens.filter((token) => token.startsWith("@")))
        expect(FAMILIES).toHaveProperty(token.slice(1));
      const gaps = tokens.filter((token) => token === "*" || token === "+").length;
      expect(answers.length).toBeGreaterThan(0);
      for (const [, gap] of answers.join().matchAll(/\$(\d)/g)) expect(Number(gap)).toBeLessThanOrEqual(gaps);
    },
  );

  test("there are a few dozen of them, with keywords in the form in which text is compared", () => {
    expect(RULES.length).toBeGreaterThanOrEqual(36);
    for (const keyword of RULES.flatMap((rule) => rule.keywords)) expect(keyword).toBe(keyword.toLowerCase().trim());
  });
});

describe("a reply", () => {
  test.each([
    ["I want to learn the piano", "What would be the first step to learn the piano?"],
    ["I’m feeling sad because my dog ran away.", "If it were not that your dog ran away, how would today look?"],
    ["I think you are lying to me", "What makes you think that I am lying to you?"],
    ["Well, I can't sleep without my pillow!", "What stands between you and being able to sleep without your pillow?"],
    ["Nice. A booking for my son, please", "For your son: which day and what time?"],
    ["My cat likes fish", "What should I know about your cat?"],
    ["Are you a robot?", "I am a small set of rules in place of a language model. There is nobody behind it."],
    ["qwerty", "How would you put that to a friend?"],
  ])("to %p decomposes and reassembles it", (said, answer) => {
    expect(reply([user(said)])).toBe(answer);
  });

  test("prefers the keyword of the higher rank, wherever it stands", () => {
    expect(reply([user("My job makes me think, I want a refund")])).toBe("When did you buy it?");
  });

  test("takes its templates in turn by the number of user messages", () => {
    const replies = [1, 2, 3, 4].map((turns) => reply(Array.from({ length: turns }, () => user("thanks"))));
    expect(new Set(replies).size).toBe(2);
    expect(replies[0]).toBe(replies[2] ?? "");
  });

  test("is the same for the same conversation", () => {
    const messages = [ADA, user("hello"), user("my printer is on fire"), user("hmm")];
    expect(reply(messages)).toBe(reply(structuredClone(messages)));
  });

  test("opens when the user has not spoken", () => {
    expect(reply([])).toBe("Hello. What can I do for you?");
    expect(reply([ADA, system("The caller's name is Jim.")])).toBe("Hello Jim, this is Ada. What can I do for you?");
  });

  test("says who it is when the system prompt does, and what it is when not", () => {
    expect(reply([ADA, user("Who are you?")])).toBe("I am Ada. What brings you here today?");
    expect(reply([user("What's your name?")])).toContain("stands in");
  });

  test("uses the name the user gave", () => {
    expect(reply([user("my name is grace")])).toBe("Pleased to meet you, Grace. What can I do for you?");
    expect(reply([user("My name is Grace"), user("what is my name?")])).toBe("You are Grace, if I heard you right.");
    expect(reply([user("what is my name?")])).toBe("You have not told me your name yet. What is it?");
  });

  test("repeats its last words when asked to", () => {
    const said: Message = { role: "assistant", text: "At nine o'clock." };
    expect(reply([user("when?"), said, user("Could you repeat that?")])).toBe("At nine o'clock.");
  });

  test("comes back to what the user called their own when nothing is heard", () => {
    expect(reply([user("my printer is on fire"), user("qwerty")])).toContain("your printer");
  });

  test("to a very long message is short", () => {
    expect(reply([user(`I want ${"a word ".repeat(100_000)}`)]).length).toBeLessThan(200);
  });
});

test.each([
  ["my work for you", "your work for me"],
  ["You are better than I am", "I am better than you are"],
  ["myself and mine", "yourself and yours"],
  ["the army of Iceland", "the army of Iceland"],
])("%p is turned round", (heard, turned) => expect(reflect(heard)).toBe(turned));

test.each([
  ["You are Ada, a helper.", "Ada"],
  ["You're Dr. Grace O'Neil. Be brief.", "Dr. Grace O'Neil"],
  ["You are a receptionist named Ada Lovelace for a clinic.", "Ada Lovelace"],
  ["your name is ada and you sell tea", "Ada"],
  ["You are HAL 9000.", "HAL 9000"],
  ["You are a helpful assistant.", null],
  ["You are AI support.", null],
  ["Ada is a helper.", null],
])("the system prompt %p names the agent %p", (prompt, name) => expect(agentName([system(prompt)])).toBe(name));

test.each([
  [[system("The customer's name is Jim Bo.")], "Jim Bo"],
  [[system("You are speaking with Ann.")], "Ann"],
  [[system("Customer Name: Ann\nPlan: gold")], "Ann"],
  [[system("The user is angry.")], null],
  [[system("The user is Jim."), user("my name's ann by the way")], "Ann"],
  [[user("My name is Ann"), user("Call me Annie")], "Annie"],
  [[user("my name is not important"), user("call me back")], null],
  [[user("hello, this is bob speaking")], "Bob"],
])("%j tells the user's name %p", (messages, name) => expect(userName(messages)).toBe(name));

test.each([
  "bye",
  "Goodbye!",
  "that's all",
  "OK, thanks, bye bye",
  "No, that’s all for today. Thank you!",
  "Alright Ada, good-bye.",
  "Bye, I'll call again on Monday",
  "That will be all, thank you very much",
])("%p is a goodbye", (said) => expect(isGoodbye(said, "Ada")).toBe(true));

test.each([
  "hello",
  "thanks",
  "",
  "Is that all?",
  "that's all he ever says",
  "I said goodbye to my mother",
  "How do I say bye in French",
  "That's all. Actually, book me a table",
])("%p is not a goodbye", (said) => expect(isGoodbye(said, "Ada")).toBe(false));
