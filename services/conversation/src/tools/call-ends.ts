import type { ToolCallEnd } from "../store/turns/tool-ledger.ts";

// How calls end whose tools give no result, in words for the model.

const ENDED = {
  isOutside: false,
  isCut: false,
  status: null,
  note: null,
  durationMs: null,
  furtherAttempts: 0,
  assigning: null,
  takesOver: null,
  charactersSaid: 0,
};
/** The end of a call that waited for others when its turn ended. */
export const NOT_MADE: ToolCallEnd = {
  ...ENDED,
  state: "CANCELLED",
  result: "This call was not made, because the reply broke off before.",
};
/** The end of a call that its tool allows to cancel. */
export const CANCELLED: ToolCallEnd = {
  ...ENDED,
  state: "CANCELLED",
  result: "The call was cancelled, because the user interrupted. It may have had an effect.",
};
/** The end of a call whose result a client did not give in time. */
export const NOT_ANSWERED: ToolCallEnd = {
  ...ENDED,
  state: "FAILED",
  result: "The client gave no result in time. The call may have had an effect.",
};
/** The end of a call whose result was waited for when the user wrote again. */
export const OVERTAKEN: ToolCallEnd = {
  ...ENDED,
  state: "FAILED",
  result: "The user wrote again before the client gave a result. The call may have had an effect.",
};
/** The end of a call that ran in a process that died. */
export const LOST: ToolCallEnd = {
  ...ENDED,
  state: "UNKNOWN",
  result:
    "It is unknown whether this call had an effect: the process that made it ended before its result. Do not make it again unless the user, who should know this, wants it.",
};
