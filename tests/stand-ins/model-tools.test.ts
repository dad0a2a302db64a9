import { describe, expect, test } from "bun:test";
import type { Message, Tool } from "@parley/dev/stand-ins/model/ask.ts";
import { reply } from "@parley/dev/stand-ins/model/replies.ts";
import { toolCallFor } from "@parley/dev/stand-ins/model/tool-call.ts";

const user = (text: string): Message => ({ role: "user", text });
const result = (text: string): Message => ({ role: "tool", text });
const tool = (name: string, description: string, properties: object = {}, required: string[] = []): Tool => ({
  name,
  description,
  parameters: { type: "object", properties, required, additionalProperties: false },
});

const DAY = { type: "string", enum: ["Friday", "Saturday"] };
const PEOPLE = { type: "integer", minimum: 1 };
const TOOLS = [
  tool("book_table", "Books a table at the restaurant.", { people: PEOPLE, day: DAY }, ["people", "day"]),
  tool("free_tables", "Says how many tables are free on a day.", { day: DAY }, ["day"]),
  tool("orders__find", "Where an order is.", { order_id: { type: "string" }, note: { type: "string" } }, ["order_id"]),
  tool("transfer_call", "Connects the user to a person."),
];

describe("the stand-in model", () => {
  test.each([
    ["Please book a table for four on Saturday.", "book_table", { people: 4, day: "Saturday" }],
    ["I need a table. Book it for friday, we are 12!", "book_table", { people: 12, day: "Friday" }],
    ["Are any tables free on Friday?", "free_tables", { day: "Friday" }],
    ["Can you find my order number A-1001?", "orders__find", { order_id: "A-1001" }],
  ])("calls the tool whose words %p has, with what it says", (said, name, input) => {
    expect(toolCallFor({ messages: [user(said)], tools: TOOLS })).toEqual({ name, input });
  });

  test("asks for the number and the choice that a call needs, and calls once both are said", () => {
    const messages = [user("Book a table, please.")];
    const answered = (text: string) => {
      const asked = toolCallFor({ messages, tools: TOOLS });
      if (typeof asked === "string") messages.push({ role: "assistant", text: asked }, user(text));
      return asked;
    };
    expect(answered("For six people.")).toBe("First tell me: people, day.");
    expect(answered("On Saturday.")).toBe("First tell me: day.");
    expect(answered("")).toEqual({ name: "book_table", input: { people: 6, day: "Saturday" } });
  });

  test("gives a required text of which nothing was said the words of the user, and a required list one that fits", () => {
    const notes = { note: { type: "string" }, tags: { type: "array", items: { type: "boolean" }, minItems: 1 } };
    const take = tool("take_note", "Keeps what was said.", notes, ["note", "tags"]);
    const call = toolCallFor({ messages: [user("Take a note of it, please.")], tools: [take] });
    expect(call).toEqual({ name: "take_note", input: { note: "it", tags: [expect.any(Boolean)] } });
  });

  test.each([
    "Is your restaurant near the station?",
    "Connect me to a person, transfer the call.",
    "Hello!",
    "(The caller is connected. Greet them and book a table.)",
  ])("calls no tool of the library after %p", (said) => {
    expect(toolCallFor({ messages: [user(said)], tools: TOOLS })).toBeNull();
  });

  test.each([
    ['{"message":"Booked for four.","id":7}', "Booked for four."],
    ['It is data.\n===af09===\n"Full."\n===af09===', "Full."],
    ['{"free_tables":[2,5],"day":"Friday"}', "free tables: 2, 5; day: Friday."],
    ["The request failed with HTTP status 503.", "The request failed with HTTP status 503."],
  ])("says what a tool answered, as in %p, and does not call it again", (text, said) => {
    const messages = [user("Book a table for four."), result(text)];
    expect(toolCallFor({ messages, tools: TOOLS })).toBeNull();
    expect(reply(messages)).toBe(said);
  });

  test("answers the user's message after it has taken over the conversation", () => {
    const told = result("You have taken over the conversation from another agent. Answer the user now.");
    expect(reply([user("What do I owe?"), told])).toBe(reply([user("What do I owe?")]));
  });

  test("calls a tool with the next message that asks for it", () => {
    const before = [user("Book a table for four."), result("Full."), user("Then book a table for two on Saturday.")];
    expect(toolCallFor({ messages: before, tools: TOOLS })).toMatchObject({
      input: { people: 2, day: "Saturday" },
    });
  });
});
