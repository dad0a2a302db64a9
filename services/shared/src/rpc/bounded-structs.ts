import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { ServiceError } from "../errors.ts";
import { JSON_VALUES_MAX, tooManyValues } from "../json/storable-json.ts";

/** The names, by number, of a request's fields that are google.protobuf.Struct. */
export type StructFields = Readonly<Record<number, string>>;

type Kind = "struct" | "entry" | "value" | "list";

/** The fields of google/protobuf/struct.proto that contain further values. */
const PARTS: Readonly<Record<Kind, Readonly<Record<number, Kind>>>> = {
  struct: { 1: "entry" },
  entry: { 2: "value" },
  value: { 5: "struct", 6: "list" },
  list: { 1: "value" },
};
/** Decoders refuse messages that are nested deeper. */
const DEPTH_MAX = 100;

/**
 * Decodes a request unless one of its Structs has more values than a JSON document may have: to decode 300,000 fields blocks
 * the process for 0.3 s. Then returns the refusal, because grpc-js answers what a decoder throws with INTERNAL.
 */
export function boundedDecoder(decode: (bytes: Buffer) => unknown, fields: StructFields): (bytes: Buffer) => unknown {
  return (bytes) => {
    try {
      refuseManyValues(bytes, fields);
    } catch (error) {
      if (error instanceof ServiceError) return error;
      throw error;
    }
    return decode(bytes);
  };
}

function refuseManyValues(bytes: Buffer, fields: StructFields): void {
  // Every value takes more than one byte.
  if (bytes.length <= JSON_VALUES_MAX) return;
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const field = fields[number];
    if (field === undefined || wireType !== WireType.LengthDelimited) reader.skip(wireType, number);
    // The Struct is a value too.
    else if (countValues(reader, "struct", 0, 1) > JSON_VALUES_MAX) throw tooManyValues(field, field);
  }
}

/** Reads a part with its length. @returns the sum of `values` and the values in the part, or some number over the limit */
function countValues(reader: BinaryReader, kind: Kind, depth: number, values: number): number {
  const length = reader.uint32();
  const end = reader.pos + length;
  let sum = values;
  while (reader.pos < end && depth < DEPTH_MAX && sum <= JSON_VALUES_MAX) {
    const [number, wireType] = reader.tag();
    const part = PARTS[kind][number];
    if (part === undefined || wireType !== WireType.LengthDelimited) reader.skip(wireType, number);
    else sum = countValues(reader, part, depth + 1, part === "value" ? sum + 1 : sum);
  }
  reader.pos = end;
  return sum;
}
