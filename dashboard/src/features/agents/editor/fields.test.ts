import { expect, test } from "bun:test";
import { join } from "node:path";
import ts from "typescript";

// Its types are those of browsers.
const { tabOf } = await import(join(import.meta.dir, "way-to-field.tsx"));
const { editedPaths } = await import(join(import.meta.dir, "../../../testing/rendered-editor.tsx"));

const OWN_SERVER = { base_url: "https://models.example/v1", api_key: "********6789" };
const OWN_MODEL = { provider_name: "CUSTOM_LLM", model_name: "mine", params: OWN_SERVER, pricing: { input: 1 } };
const PLAIN = {
  id: "agt_1",
  agent_name: "Front desk",
  agent_type: "INBOUND",
  agent_description: null,
  agent_category: "other",
  agent_tips: [],
  agent_mobile_number: [],
  MediaFiles: [{ fileType: "image/png", mediaUrl: "https://cdn.example/plan.png" }],
  first_message_prompt: null,
  prompt: null,
  llm: { provider_name: "OPENAI", model_name: "gpt", params: {}, fallbacks: [OWN_MODEL] },
  tts: { provider_name: "OPENAI", voice_id: "alloy", params: {} },
  stt: { provider_name: "DEEPGRAM", model_name: "nova", params: {} },
  tools: {
    end_call: true,
    transfer_call: true,
    send_dtmf: true,
    schedule_call: true,
    set_language: true,
    background_audio: { sound: "office", volume: 0.3 },
    user_idle: { timeout_seconds: 10, max_reminders: 2 },
  },
  custom_tools: [{ tool_id: "tol_1" }],
  knowledge: [
    { knowledge_base_id: "kb_1", mode: "tool", max_chunks: 6, max_characters: 8_000 },
    { knowledge_base_id: "kb_2", mode: "prompt", max_chunks: 6, max_characters: 8_000 },
  ],
  handoffs: [{ agent_id: "agt_2", when: "An invoice." }],
  timezone: null,
  start_webhook: {
    url: "https://crm.example/start",
    headers: { 0: "********1234" },
    secret: "********6789",
    timeout_ms: 3000,
    on_failure: "continue",
    channels: null,
  },
  call_settings: {},
  whatsapp: {},
  recording: false,
  widget_config: { allowed_origins: ["https://shop.example"] },
  call_analysis_enabled: true,
  call_analysis_prompt: { prompt_name: "agent-agt_1-analysis" },
  call_analysis_schema: { mood: { type: "str" } },
};
/** An agent that uses what excludes something of the other one. */
const OTHER = {
  ...PLAIN,
  prompt: { prompt_name: "refunds", prompt_version: 1, prompt_content: "You handle refunds." },
  call_analysis_prompt: { prompt_name: "sum up" },
  llm: OWN_MODEL,
  tts: { provider_name: "CUSTOM_TTS", voice_id: "any", params: OWN_SERVER },
  stt: { provider_name: "CUSTOM_STT", model_name: "any", params: { ...OWN_SERVER, api_key: { secret: "stt_key" } } },
  sts: { provider_name: "OPENAI", model_name: "realtime" },
};

/** Fields without a control, and why that is right. */
const WITHOUT_CONTROL: Readonly<Record<string, string>> = {
  "llm.fallbacks.*.fallbacks": "is always empty",
  "stt.params": "is always empty, unless the server is the owner's own",
};

const edited: [path: string, tab: string | null][] = [...(await editedPaths(PLAIN)), ...(await editedPaths(OTHER))];

test("the way to a field leads to the tab that has it", () => {
  expect(edited.filter(([path, tab]) => tabOf(path) !== tab)).toEqual([]);
});

test("the editor has a control, which shows the API's message, for every field that the API takes of an agent", () => {
  const shown = edited.map(([path]) => generic(path));
  const missing = fieldsOf("UpdateAgentRequest").filter((path) => !shown.includes(path) && !(path in WITHOUT_CONTROL));
  expect(missing).toEqual([]);
});

/** A path without the places in lists, and without the names that owners choose. */
function generic(path: string): string {
  return path.replace(/\.\d+(?=\.|$)/g, ".*").replace("call_analysis_schema.mood", "call_analysis_schema.*");
}

/** The paths of all values of a schema, in the types that are generated from the API's document. */
function fieldsOf(schema: string): string[] {
  const file = join(import.meta.dir, "../../../api/gen/schema.ts");
  const program = ts.createProgram([file], { strict: true, noLib: true });
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const exported = source && checker.getSymbolAtLocation(source);
  const components = exported?.exports?.get(ts.escapeLeadingUnderscores("components"));
  const member = (type: ts.Type, name: string) => {
    const property = checker.getPropertyOfType(type, name);
    if (!property) throw new Error(`there is no ${name}`);
    return checker.getTypeOfSymbol(property);
  };
  if (!components) throw new Error("the types of the API have no components");
  const schemas = member(checker.getDeclaredTypeOfSymbol(components), "schemas");
  return [...new Set(leaves(checker, member(schemas, schema), ""))];
}

function leaves(checker: ts.TypeChecker, type: ts.Type, path: string): string[] {
  const below = (inner: ts.Type, name: string) => leaves(checker, inner, path === "" ? name : `${path}.${name}`);
  if (type.isUnion()) return type.types.flatMap((each) => leaves(checker, each, path));
  if (type.flags & (ts.TypeFlags.Null | ts.TypeFlags.Undefined | ts.TypeFlags.Never)) return [];
  const item = checker.getIndexTypeOfType(type, ts.IndexKind.String);
  if (item) return item.flags & ts.TypeFlags.Unknown ? [path] : below(item, "*");
  if (!(type.flags & ts.TypeFlags.Object)) return [path];
  const [element] = checker.typeToString(type).endsWith("[]") ? checker.getTypeArguments(type as ts.TypeReference) : [];
  // A list of plain values has one control.
  if (element) return element.flags & ts.TypeFlags.Object ? below(element, "*") : [path];
  return checker.getPropertiesOfType(type).flatMap((each) => below(checker.getTypeOfSymbol(each), each.name));
}
