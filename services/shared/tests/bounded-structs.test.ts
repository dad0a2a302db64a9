import { expect, test } from "bun:test";
import {
  RunCallToolRequest,
  StartConversationRequest,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import fc from "fast-check";
import { JSON_VALUES_MAX } from "../src/json/storable-json.ts";
import { boundedDecoder } from "../src/rpc/bounded-structs.ts";

const FIELDS = { 9: "dynamic_variables", 10: "metadata" };

function fieldsOf(count: number): Record<string, unknown> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`name_${at}`, at]));
}

function encoded(request: Partial<StartConversationRequest>): Buffer {
  const whole = { ...StartConversationRequest.fromPartial({}), ...request };
  return Buffer.from(StartConversationRequest.encode(whole).finish());
}

test("a request of which a Struct has too many values is refused by the field's name, without being decoded", () => {
  const decoder = boundedDecoder(() => expect.unreachable(), FIELDS);
  const refused = (field: string) => ({ kind: "invalid", message: `${field} must not have more than 10000 values` });
  expect(decoder(encoded({ dynamicVariables: fieldsOf(300_000) }))).toMatchObject(refused("dynamic_variables"));
  const metadata = { deep: [{ many: Array.from({ length: JSON_VALUES_MAX }, () => ({})) }] };
  expect(decoder(encoded({ dynamicVariables: fieldsOf(9_000), metadata }))).toMatchObject(refused("metadata"));
});

test("each Struct of a request may have as many values as a JSON document, in any shape", () => {
  const decoder = boundedDecoder(StartConversationRequest.decode, FIELDS);
  const request = { dynamicVariables: fieldsOf(JSON_VALUES_MAX - 1), metadata: fieldsOf(JSON_VALUES_MAX - 1) };
  expect(decoder(encoded(request))).toMatchObject(request);

  const calls = boundedDecoder(RunCallToolRequest.decode, { 4: "arguments" });
  // Encoders skip this key, because it would set the prototype, so the message would have fewer values.
  const isWhole = (given: object) => !JSON.stringify(given).includes('"__proto__"');
  const property = fc.property(
    fc.dictionary(fc.string(), fc.jsonValue()).filter(isWhole),
    fc.integer({ min: -3, max: 3 }),
    (given, beyond) => {
      const valuesOf = (value: unknown): number =>
        typeof value === "object" && value !== null
          ? Object.values(value).reduce((sum: number, item) => sum + valuesOf(item), 1)
          : 1;
      const filled = { ...given, filling: [] as number[] };
      filled.filling = Array.from({ length: JSON_VALUES_MAX + beyond - valuesOf(filled) }, () => 0);
      const bytes = Buffer.from(
        RunCallToolRequest.encode(RunCallToolRequest.fromPartial({ arguments: filled })).finish(),
      );
      expect(calls(bytes) instanceof Error).toBe(beyond > 0);
    },
  );
  fc.assert(property, { numRuns: 25 });
});
