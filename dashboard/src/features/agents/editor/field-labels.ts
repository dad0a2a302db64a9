import { labelOf, lowered } from "../../../api/field-names.ts";
import type { Changes } from "../agents.ts";
import { labelOfBuiltIn } from "./tools/builtin-tools.tsx";

/** The fields by the names that the editor has for them. */
const LABELS: Partial<Record<keyof Changes, string>> = {
  agent_name: "Name",
  agent_type: "Type",
  agent_description: "Description",
  agent_category: "Category",
  agent_mobile_number: "Phone numbers",
  first_message_prompt: "Greeting",
  prompt: "Prompt",
  prompt_content: "Prompt",
  tools: "Tools",
  custom_tools: "Your tools",
  handoffs: "Handoffs",
  knowledge: "Knowledge",
  timezone: "Time zone",
  start_webhook: "Start webhook",
  call_settings: "Call settings",
  widget_config: "Website chat",
  stt: "Speech-to-text",
  llm: "Language model",
  tts: "Voice",
  sts: "Speech to speech",
  recording: "Recording",
  whatsapp: "WhatsApp",
  agent_tips: "Tips",
  MediaFiles: "Files",
  call_analysis_enabled: "Analysis",
  call_analysis_prompt: "Analysis prompt",
  call_analysis_schema: "Analysis fields",
  publishing: "Publishing",
};

/** What responses show under names of their own. */
const SHOWN: Readonly<Record<string, keyof Changes>> = {
  analysis_prompt: "call_analysis_prompt",
  prompt_pinned: "prompt",
  prompt_label: "prompt",
};

/** How the editor calls what is at a path, part by part. @param path such as `custom_tools.look_up_order.timeout_ms` */
export function titleOfField(path: string): string {
  const [field = path, ...parts] = path.split(".");
  const inWords = (name: string, at: number) => {
    if (at === 0 && field === "tools") return labelOfBuiltIn(name);
    return at === 0 && HAVE_OWN_NAMES.includes(field) ? name : lowered(labelOf(name));
  };
  const titles = parts.map(inWords).filter((_, at) => parts[at] !== "params");
  return [labelOfField(field), titles.join(", ")].filter(Boolean).join(": ");
}

/** What is in them has names that an owner gave. */
const HAVE_OWN_NAMES = ["custom_tools", "call_analysis_schema"];

/** How the editor calls a field, or what a path is in. @param path such as `llm.params.temperature` */
export function labelOfField(path: string): string {
  const [field = path] = path.split(".");
  return LABELS[SHOWN[field] ?? (field as keyof Changes)] ?? field;
}
