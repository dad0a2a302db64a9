import { describe, expect, test } from "bun:test";
import type { Message } from "@parley/dev/stand-ins/model/ask.ts";
import { isGoodbye, reply } from "@parley/dev/stand-ins/model/replies.ts";

const system = (text: string): Message => ({ role: "system", text });
const user = (text: string): Message => ({ role: "user", text });
const ADA = system("You are Ada, the receptionist of Harbour Dental.");

describe("the stand-in model's reply", () => {
  test.each([
    ["Hello, I need some help with my order.", "Gladly. What is the first thing to know about your order?"],
    ["I want to learn the piano", "What is the first step to learn the piano?"],
    ["thanks", "You are welcome. Is there anything else?"],
    ["my name is Grace", "Pleased to meet you, Grace. What can I do for you?"],
    ["qwerty", "Tell me more about that."],
  ])("to %p is made of what was said", (said, answer) => {
    expect(reply([user(said)])).toBe(answer);
  });

  test("is the same for the same conversation", () => {
    const messages = [ADA, user("hello"), user("my printer is on fire"), user("hmm")];
    expect(reply(messages)).toBe(reply(structuredClone(messages)));
  });

  test("opens the conversation when the user has not spoken", () => {
    expect(reply([ADA])).toBe("Hello. What can I do for you?");
  });

  test.each([
    ["You are Ada, a helper.", "I am Ada. What brings you here today?"],
    ["You're Dr. Grace O'Neil. Be brief.", "I am Dr. Grace O'Neil. What brings you here today?"],
    ["You are a receptionist named Ada Lovelace for a clinic.", "I am Ada Lovelace. What brings you here today?"],
    ["You are a helpful assistant.", "I stand in for a language model until you configure one. How can I help?"],
  ])("introduces itself by the name in the prompt %p", (prompt, answer) => {
    expect(reply([system(prompt), user("Who are you?")])).toBe(answer);
  });

  test.each([
    ["When are you open?", "Opening hours: Monday to Friday, 9 to 5."],
    ["what are your hours", "Opening hours: Monday to Friday, 9 to 5."],
    ["Hello, are you open on Saturday?", "Opening hours: Monday to Friday, 9 to 5."],
    ["I want to know when you close.", "Opening hours: Monday to Friday, 9 to 5."],
    ["Where can I find you?", "Our address is 5 Main Street."],
    ["How much is a cleaning?", "A cleaning costs $90.50."],
    ["Is parking free?", "Parking is free."],
  ])("to %p is the plain fact of the prompt", (said, answer) => {
    const prompt = system(`You are Ada, at the front desk of Acme. Our address is 5 Main Street. Parking is free.

# What you do
- Answer questions about opening hours: Monday to Friday, 9 to 5.
- A cleaning costs $90.50.
- For everything else, take a message with the caller's name and phone number.

# How you speak
- Friendly and brief: one or two sentences at a time.
- Say so when you do not know something. Never invent an answer.`);
    expect(reply([prompt, user(said)])).toBe(answer);
  });

  test.each([
    ["When do you open?", "I do not know that yet. What would a good answer tell you?"],
    ["I would like to book a table", "What is the first step to book a table?"],
    ["Who are you?", "I am Ada. What brings you here today?"],
  ])("to %p is made of what was said, where the prompt has no fact for it", (said, answer) => {
    const prompt = system(
      "You are Ada, a receptionist. Ask one question at a time. Say so when you do not know.\n- The table is round.",
    );
    expect(reply([prompt, user(said)])).toBe(answer);
  });

  test("repeats its last words when asked to", () => {
    const said: Message = { role: "assistant", text: "At nine o'clock." };
    expect(reply([user("when?"), said, user("Could you repeat that?")])).toBe("At nine o'clock.");
  });

  test("to a very long message is short", () => {
    expect(reply([user(`I want ${"a word ".repeat(100_000)}`)]).length).toBeLessThan(200);
  });
});

test.each([
  "bye",
  "Goodbye!",
  "that's all",
  "OK, thanks, bye bye",
  "No, that’s all for today. Thank you!",
  "Bye, I'll call again on Monday",
  "That will be all, thank you very much",
])("%p is a goodbye", (said) => expect(isGoodbye(said)).toBe(true));

test.each([
  "hello",
  "thanks",
  "",
  "Is that all?",
  "that's all he ever says",
  "I said goodbye to my mother",
  "How do I say bye in French",
])("%p is not a goodbye", (said) => expect(isGoodbye(said)).toBe(false));
