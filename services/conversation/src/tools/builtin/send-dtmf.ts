import { failed } from "../tool.ts";
import type { BuiltinTool } from "./builtin.ts";

const KEYS_MAX = 32;
const PAUSES_MAX = 10;
const KEYS = new RegExp(`^[0-9*#w]{1,${KEYS_MAX}}$`);

export const sendDtmf: BuiltinTool = {
  definition: () => ({
    name: "send_dtmf",
    description:
      "Presses keys of the telephone. Use it to choose from the menu of an automated system, or to give it a number that it asks for. Afterwards, say nothing unless a person is listening.",
    inputSchema: {
      type: "object",
      properties: {
        keys: {
          type: "string",
          description: `The keys in order: 0-9, * and #, and w for a pause of half a second. At most ${KEYS_MAX}, of which ${PAUSES_MAX} w.`,
        },
      },
      required: ["keys"],
      additionalProperties: false,
    },
  }),
  run: (input, _config, { isTelephone }) => {
    // Models like to set digits apart.
    const keys = typeof input?.keys === "string" ? input.keys.replaceAll(/[\s-]/g, "").toLowerCase() : "";
    if (!KEYS.test(keys) || keys.split("w").length - 1 > PAUSES_MAX)
      return failed(`"keys" must be 1 to ${KEYS_MAX} of 0-9, *, # and w, of which at most ${PAUSES_MAX} w.`);
    if (!isTelephone) return failed("This is not a telephone call, so it has no keys to press. Go on in words.");
    const action = { type: "send_dtmf" as const, keys };
    return { result: `The keys ${keys} are pressed.`, isError: false, mayBeSilent: true, action };
  },
};
