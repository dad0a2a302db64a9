import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { labelOf, worded } from "./field-names.ts";
import { problemIn } from "./problem.ts";

/** The field names of the OpenAPI document, from the types that are generated from it. */
const document = await Bun.file(join(import.meta.dir, "gen/schema.ts")).text();
const names = new Set([...document.matchAll(/^\s+([a-z][a-z0-9_]*)\??: /gm)].map(([, name = ""]) => name));

describe("a field of the OpenAPI document", () => {
  test("is told in words, whichever it is", () => {
    expect(names.size).toBeGreaterThan(200);
    for (const name of names) {
      for (const path of [name, `llm.params.${name}`, `calls.3.${name}`]) {
        expect(labelOf(path)).toMatch(/^[A-Z0-9][^_.]*$/);
        expect(worded(`${path} must be text`, path)).toBe(`${labelOf(name)} must be text`);
      }
      if (name.includes("_")) expect(worded(`Something is wrong: set ${name} first`)).not.toContain("_");
    }
  });

  test.each([
    ["account_sid", "Account SID"],
    ["auth_id", "Auth ID"],
    ["base_url", "Base URL"],
    ["avatar_url", "Avatar URL"],
    ["request_type", "Method"],
    ["agent_mobile_number.1", "Phone numbers, item 2"],
    ["window.timezone", "Time zone"],
    ["expires_at", "Expiry"],
  ])("%s is called %s", (path, label) => {
    expect(labelOf(path)).toBe(label);
  });
});

test.each([
  [
    "account_sid belongs to no Twilio account (20003)",
    "account_sid",
    "Account SID belongs to no Twilio account (20003)",
  ],
  [
    "call_analysis_prompt is required when call_analysis_enabled is true",
    "call_analysis_prompt",
    "Analysis prompt is required when analysis is true",
  ],
  [
    "Tool look_up_order is used by the agent agt_01m7yyhwdzeb28n9gms8rr2qyg: take it out of their custom_tools before deleting it",
    "",
    "Tool look_up_order is used by the agent agt_01m7yyhwdzeb28n9gms8rr2qyg: take it out of their custom tools before deleting it",
  ],
  [
    "Secret shop_key is used by the tools book_table, look_up_order: take it out of every tool before deleting it",
    "",
    "Secret shop_key is used by the tools book_table, look_up_order: take it out of every tool before deleting it",
  ],
  [
    "url has {order_id}, but no path parameter has this name",
    "url",
    "URL has {order_id}, but no path parameter has this name",
  ],
  [
    "parameters.1.name: the model has an argument order_id already",
    "parameters.1.name",
    "Name: the model has an argument order_id already",
  ],
  [
    "auth.secret must be one of your secrets: there is no shop_key",
    "auth.secret",
    "Secret must be one of your secrets: there is no shop_key",
  ],
  [
    "csv line 4: to_mobile_number must be a phone number in E.164 form",
    "csv",
    "Line 4: phone number must be a phone number in E.164 form",
  ],
  [
    "Prompt agent-agt_01m7yyhwdzeb28n9gms8rr2qyg is used by the agent agt_01m7yyhwdzeb28n9gms8rr2qyg",
    undefined,
    "An agent's own prompt is used by the agent agt_01m7yyhwdzeb28n9gms8rr2qyg",
  ],
  [
    "Agent has no voicemail message: set call_settings.voicemail_message",
    undefined,
    "Agent has no voicemail message: set voicemail message",
  ],
  [
    "csv must have a column to_mobile_number in its first row",
    "csv",
    "File must have a column to_mobile_number in its first row",
  ],
  ["trunk.example refused the connection", undefined, "trunk.example refused the connection"],
  ["https://hooks.example/a_b answered 404", undefined, "https://hooks.example/a_b answered 404"],
  ["ada_lovelace@example.com is a member already", undefined, "ada_lovelace@example.com is a member already"],
])("the API's sentence %j is shown in the words of the page", (sentence, path, shown) => {
  expect(worded(sentence, path)).toBe(shown);
});

test("every error of a response is shown in these words, beside the form and at its fields", () => {
  const message = "auth_token is not the token of this auth_id: Plivo refuses it";
  const problem = problemIn(new Response(null, { status: 422 }), {
    detail: message,
    errors: [{ path: "auth_token", message }],
  });
  const shown = "Auth token is not the token of this auth ID: Plivo refuses it";
  expect(problem.message).toBe(shown);
  expect(problem.fields.get("auth_token")).toBe(shown);
  expect(problem.violations).toEqual([shown]);
});
