import { describe, expect, test } from "bun:test";
import type { ToolContext, ToolOutcome } from "../tool.ts";
import { builtinTools } from "../toolbox.ts";

describe("transfer_call", () => {
  const numberAsked = (config: object | true) => {
    const [offered] = builtinTools({ transfer_call: config }, "call");
    return offered?.definition.inputSchema.properties as { phone_number?: { enum: string[] } } | undefined;
  };
  const transferred = (config: object | true, phone_number?: string) => {
    const [offered] = builtinTools({ transfer_call: config }, "call");
    const outcome = offered?.run({ name: "transfer_call", json: "", input: { phone_number } }, {} as ToolContext);
    const { action } = (outcome ?? {}) as Partial<ToolOutcome>;
    return action?.type === "transfer_call" ? action.phoneNumber : null;
  };
  const [ONE, TWO, OTHER] = ["+14155550101", "+14155550102", "+19005550103"];

  test("goes to the agent's number, whatever number the model names", () => {
    const config = { transfer_phone_number: ONE };
    expect(numberAsked(config)).not.toHaveProperty("phone_number");
    expect([transferred(config), transferred(config, OTHER)]).toEqual([ONE, ONE]);
  });

  test("goes to a number of the agent's list that the model chooses, and to no other", () => {
    const config = { transfer_phone_number: [ONE, TWO] };
    expect(numberAsked(config)?.phone_number?.enum).toEqual([ONE, TWO]);
    expect([transferred(config, TWO), transferred(config, OTHER), transferred(config)]).toEqual([TWO, null, null]);
  });
});
