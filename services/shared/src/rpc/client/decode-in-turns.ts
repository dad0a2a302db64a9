import { BinaryReader } from "@bufbuild/protobuf/wire";
import { ServiceError } from "../../errors.ts";
import type { AnyMethod } from "../definition.ts";

type Message = Record<string, unknown>;

const NOTHING = Buffer.alloc(0);
/** Bytes of a part, unless a single item is longer. */
const PART_BYTES = 64 * 1024;

/**
 * Decodes a long message part by part, each in a turn of the event loop of its own, because a list page takes tens of
 * milliseconds. A part is a run of whole fields, which can be decoded separately
 * (https://protobuf.dev/programming-guides/encoding/#last-one-wins).
 * @param turn is awaited before each part
 * @throws ServiceError internal when the bytes are not such a message
 */
export async function decodeInTurns(
  { responseDeserialize }: Pick<AnyMethod, "responseDeserialize">,
  bytes: Buffer,
  turn: () => Promise<unknown>,
): Promise<unknown> {
  try {
    const empty = responseDeserialize(NOTHING) as Message;
    const message = responseDeserialize(NOTHING) as Message;
    for (const part of partsOf(bytes)) {
      await turn();
      merge(message, responseDeserialize(part) as Message, empty);
    }
    return message;
  } catch (cause) {
    throw new ServiceError("internal", "A response could not be read", { cause });
  }
}

function* partsOf(bytes: Buffer): Generator<Buffer> {
  const reader = new BinaryReader(bytes);
  let from = 0;
  while (reader.pos < reader.len) {
    const before = reader.pos;
    const [field, wireType] = reader.tag();
    reader.skip(wireType, field);
    // Ends the part before a field that would make it too long.
    if (before > from && reader.pos - from > PART_BYTES) {
      yield bytes.subarray(from, before);
      from = before;
    }
  }
  if (from < bytes.length) yield bytes.subarray(from);
}

/** Merges a part: appends items to lists, and replaces other fields. */
function merge(message: Message, part: Message, empty: Message): void {
  for (const [name, value] of Object.entries(part)) {
    if (Array.isArray(value) && Array.isArray(message[name])) message[name].push(...value);
    else if (!(value instanceof Uint8Array ? value.length === 0 : value === empty[name])) message[name] = value;
  }
}
