import type { StartConversationRequest } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { CALLING_TYPES, CARRIERS, CONVERSATION_TYPES, nameOf } from "@parley/shared/domain/api-names";
import { collectValues, type VariableValue } from "@parley/shared/domain/variables/values";
import { invalid } from "@parley/shared/errors";
import { isUuid } from "@parley/shared/ids";
import { refuseUnstorable } from "@parley/shared/json/storable-json";
import { E164 } from "@parley/shared/phone/e164";
import { isLonger } from "@parley/shared/text/length";
import { storedTest } from "../start/test-setup.ts";
import type { NewCall } from "../store/calls.ts";
import { checkUrl } from "./url.ts";

type Channel = NewCall["type"];
type Field =
  | "calling_type"
  | "to_mobile_number"
  | "from_mobile_number"
  | "telephony_provider"
  | "room_url"
  | "room_name";

/** The fields of each type (docs/voice-runtimes.md#starting). A caller may withhold its number. */
const FIELDS: Record<Channel, { required: readonly Field[]; optional: readonly Field[] }> = {
  TELEPHONY: {
    required: ["calling_type", "to_mobile_number"],
    optional: ["from_mobile_number", "telephony_provider"],
  },
  WHATSAPP: { required: ["from_mobile_number", "to_mobile_number"], optional: [] },
  DAILY: { required: ["room_url"], optional: ["room_name"] },
  WEB: { required: [], optional: [] },
};
const ROOM_NAME_MAX = 200;
/** Limit for metadata and for dynamic variables, the same as for a request body. */
const JSON_BYTES_MAX = 1024 * 1024;

/** Validates the conversation that a runtime starts. @throws ServiceError invalid, naming the field */
export function newCall(request: StartConversationRequest): NewCall {
  const { ownerId, agentId, conversationId, metadata = {}, dynamicVariables = {}, test } = request;
  if (!isUuid(conversationId))
    throw invalid("conversation_id", "conversation_id must be a UUID that the runtime chose");
  checkJson("metadata", metadata);
  const call: NewCall = {
    ownerId,
    conversationId: conversationId.toLowerCase(),
    agentId,
    type: channelOf(request),
    callingType: nameOf(CALLING_TYPES, request.callingType) ?? null,
    toMobileNumber: request.toMobileNumber || null,
    fromMobileNumber: request.fromMobileNumber || null,
    telephonyProvider: request.telephonyProvider || null,
    roomUrl: request.roomUrl || null,
    roomName: request.roomName || null,
    metadata,
    variables: {
      ...collectValues(metadata),
      ...callVariables(dynamicVariables),
      ...callVariables(test?.dynamicVariables ?? {}),
    },
    isTestCall: request.isTestCall || test !== undefined,
    draftId: request.draftId ?? null,
    test: test ? storedTest(test) : null,
    agentVersion: request.agentVersion ?? null,
  };
  checkFields(call);
  if (call.test && call.type === "WHATSAPP") throw invalid("test", "test must be left out for WHATSAPP");
  return call;
}

/** The runtime's `dynamic_variables` by canonical name. @throws ServiceError invalid */
export function callVariables(given: { [name: string]: unknown }): Record<string, VariableValue> {
  checkJson("dynamic_variables", given);
  return collectValues({ dynamic_variables: given });
}

function channelOf(request: StartConversationRequest): Channel {
  const type = nameOf(CONVERSATION_TYPES, request.type);
  if (type === "CHAT") throw invalid("type", "type must not be CHAT: a chat begins with StartChat or its first turn");
  if (!type) throw invalid("type", "type must be TELEPHONY, WHATSAPP, DAILY or WEB");
  return type;
}

function checkFields(call: NewCall): void {
  const given: Record<Field, string | null> = {
    calling_type: call.callingType,
    to_mobile_number: call.toMobileNumber,
    from_mobile_number: call.fromMobileNumber,
    telephony_provider: call.telephonyProvider,
    room_url: call.roomUrl,
    room_name: call.roomName,
  };
  const { required, optional } = FIELDS[call.type];
  for (const field of Object.keys(given) as Field[]) {
    const value = given[field];
    if (value === null) {
      if (required.includes(field)) throw invalid(field, `${field} is required for ${call.type}`);
    } else if (!required.includes(field) && !optional.includes(field)) {
      throw invalid(field, `${field} must be left out for ${call.type}`);
    } else {
      checkField(field, value);
    }
  }
}

function checkField(field: Field, value: string): void {
  switch (field) {
    case "to_mobile_number":
    case "from_mobile_number":
      if (!E164.test(value))
        throw invalid(field, `${field} must be a phone number in E.164 form, such as +14155550123`);
      break;
    case "telephony_provider":
      if (!CARRIERS.some((carrier) => carrier === value))
        throw invalid(field, `${field} must be ${CARRIERS.join(" or ")}`);
      break;
    case "room_url":
      checkUrl(field, value);
      break;
    case "room_name":
      if (value.includes("\0") || isLonger(value, ROOM_NAME_MAX)) {
        throw invalid(field, `${field} must be at most ${ROOM_NAME_MAX} characters, none of them NUL`);
      }
      break;
  }
}

function checkJson(field: string, value: object): void {
  refuseUnstorable(value, field, field);
  if (Buffer.byteLength(JSON.stringify(value)) > JSON_BYTES_MAX) throw invalid(field, `${field} must be at most 1 MiB`);
}
