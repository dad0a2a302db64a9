import type { CalledTools } from "./called-tools.ts";
import { fieldsOf } from "./protocol.ts";

/** A tool call of chat completions, or a piece of one. */
export interface CallPiece {
  index?: unknown;
  id?: unknown;
  function?: unknown;
}

interface OpenCall {
  place: number;
  id: unknown;
  name: unknown;
}

/**
 * Tells apart the tool calls of chat completions, which servers stream in pieces or whole, numbered or not, with and without ids.
 * The first row that fits decides:
 *
 * | A piece with                                           | Is                                                           |
 * | ------------------------------------------------------ | ------------------------------------------------------------ |
 * | a new index, and a name or a new id                    | a new call                                                   |
 * | a new id and a name                                    | a new call, because some servers number all calls 0          |
 * | a new id and no name                                   | more of the call of its index: some servers make an id a piece |
 * | another name than the call of its id, or of its index  | a new call                                                   |
 * | the same name and arguments that begin anew            | a new call, or the same one repeated                         |
 * | anything else                                          | more of the call of its id, of its index, or of the last one |
 */
export function callPieces(tools: CalledTools): (piece: CallPiece) => void {
  const byIndex = new Map<string, OpenCall>();
  const byId = new Map<unknown, OpenCall>();
  let calls = 0;
  let last: OpenCall | undefined;

  function knownCall(index: string | null, id: unknown, name: unknown): OpenCall | undefined {
    const ofId = id ? byId.get(id) : undefined;
    if (index === null) return ofId ?? last;
    const ofIndex = byIndex.get(index);
    if (ofIndex) return ofId ?? ofIndex;
    if (name) return undefined;
    return ofId ?? (id ? undefined : last);
  }

  function goesOn(call: OpenCall, id: unknown, name: unknown, args: unknown): boolean {
    if (id && call.id && id !== call.id) return !name;
    if (!name || !call.name) return true;
    return name === call.name && !beginsAnew(tools.argumentsOf(call.place), args);
  }

  function begin(): OpenCall {
    const call = { place: calls++, id: undefined, name: undefined };
    tools.begin(call.place);
    return call;
  }

  return (piece) => {
    const { index: given, id } = piece;
    const { name, arguments: args } = fieldsOf(piece.function ?? piece);
    const index = given === undefined || given === null ? null : String(given);
    const known = knownCall(index, id, name);
    const isNamedAgain = known && name === known.name && (!id || !known.id || id === known.id);
    if (isNamedAgain && name && args !== "" && args === tools.argumentsOf(known.place)) return;
    const call = known && goesOn(known, id, name, args) ? known : begin();
    if (index !== null) byIndex.set(index, call);
    if (id) byId.set(id, call);
    call.id ||= id;
    call.name ||= name;
    tools.name(call.place, name);
    // Some servers begin with an empty object, and let the arguments follow.
    if (tools.argumentsOf(call.place) === "{}") tools.set(call.place, args);
    else tools.add(call.place, args);
    last = call;
  };
}

/** Whether these arguments cannot go on with those so far: one JSON object follows another. */
function beginsAnew(sofar: string, args: unknown): boolean {
  if (!sofar.trimEnd().endsWith("}")) return false;
  return typeof args === "string" ? args.startsWith("{") : typeof args === "object" && args !== null;
}
