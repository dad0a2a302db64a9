import { failed, type WarmTransfer } from "../tool.ts";
import type { BuiltinTool, ToolConfig } from "./builtin.ts";

export const transferCall: BuiltinTool = {
  definition: (config) => {
    const numbers = transferNumbersOf(config);
    const isChosen = numbers.length > 1;
    return {
      name: "transfer_call",
      description: "Connects the user to a person. Use it when the user asks for one or you cannot help.",
      inputSchema: {
        type: "object",
        properties: {
          message: { type: "string", description: "The last words to the user." },
          ...(isChosen && { phone_number: { type: "string", description: "The number to connect.", enum: numbers } }),
        },
        ...(isChosen && { required: ["phone_number"] }),
        additionalProperties: false,
      },
    };
  },
  run: (input, config) => {
    const numbers = transferNumbersOf(config);
    const number = numbers.length === 1 ? numbers[0] : input?.phone_number;
    // A caller may have talked the model into another number.
    if (typeof number !== "string" || !numbers.includes(number))
      return failed(`"phone_number" must be one of ${numbers.join(", ")}.`);
    const warm = warmTransferOf(config);
    const action = { type: "transfer_call" as const, phoneNumber: number, warm };
    return { result: warm ? WARM : "The user is connected after this reply.", isError: false, ends: true, action };
  },
};

const WARM =
  "After this reply the user waits while the person is called. If the person does not take the call, you are told why and talk to the user again.";
const ACCEPT_SECONDS = 30;

function warmTransferOf(config: ToolConfig): WarmTransfer | undefined {
  const { mode, briefing, hold_sound: holdSound = "ringing", accept_seconds: acceptSeconds = ACCEPT_SECONDS } = config;
  if (mode !== "warm") return undefined;
  return { briefing: String(briefing), holdSound: String(holdSound), acceptSeconds: Number(acceptSeconds) };
}

/** The numbers that calls may be transferred to. */
function transferNumbersOf({ transfer_phone_number: given }: ToolConfig): string[] {
  const numbers = Array.isArray(given) ? given : [given];
  return numbers.filter((number): number is string => typeof number === "string");
}
