/** The page's labels of fields that are more than their API name in words. */
const LABELS: Readonly<Record<string, string>> = {
  agent_id: "Agent",
  agent_mobile_number: "Phone numbers",
  agent_name: "Name",
  agent_type: "Type",
  allowed_addresses: "Trunk IP addresses",
  call_analysis_enabled: "Analysis",
  call_analysis_prompt: "Analysis prompt",
  call_analysis_schema: "Analysis fields",
  csv: "File",
  delay_ms: "After",
  dtmf: "Keys pressed",
  end_of_turn_silence_ms: "Pause before the agent answers",
  equals: "Value",
  expires_at: "Expiry",
  fallbacks: "Fallback models",
  from_mobile_number: "Number to call from",
  host: "Server",
  input: "Input price",
  interrupt_at_ms: "Interrupts after",
  is_error: "Failed",
  llm: "Language model",
  max: "Maximum",
  max_cost_usd: "Cost at most",
  mobile_number: "Phone number",
  model_name: "Model",
  output: "Output price",
  prompt_content: "Prompt",
  prompt_name: "Name of the prompt",
  provider_name: "Provider",
  request_type: "Method",
  "retries.max": "Number of retries",
  retention_days: "Days",
  retry_schedule: "Attempts",
  start_at: "Start",
  sts: "Speech-to-speech model",
  stt: "Speech recognition",
  timezone: "Time zone",
  tool_id: "Tool",
  transfer_phone_number: "Phone number",
  to_mobile_number: "Phone number",
  tts: "Voice",
  turns_max: "Turns at most",
  voice_id: "Voice",
  voicemail_message: "Voicemail message",
};
const ACRONYMS = new Map(
  ["API", "CSV", "E164", "ID", "IDs", "IP", "MS", "SID", "SIP", "STT", "URL", "USD"].map((word) => [
    word.toLowerCase(),
    word,
  ]),
);
/** At the end of a name, it tells what the value is in, which the sentence does as well. */
const UNITS = /_(at|ms)$/;

/** What the page calls a field of the API. @param path such as `window.to_time` or `agent_mobile_number.0` */
export function labelOf(path: string): string {
  const names = path.split(".");
  const item = /^\d+$/.test(names.at(-1) ?? "") ? names.pop() : undefined;
  const name = names.at(-1) ?? path;
  const label = LABELS[names.slice(-2).join(".")] ?? LABELS[name] ?? inWords(name.replace(UNITS, ""));
  return item === undefined ? label : `${label}, item ${Number(item) + 1}`;
}

function inWords(name: string): string {
  const words = name.split("_").map((word) => ACRONYMS.get(word) ?? word);
  const text = words.join(" ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The name of a field in the middle of a sentence. The word after "column" is what has to stand in a file. */
const NAMES =
  /(?<!column )(?<![\w."“‘'@/:{-])[a-z][a-z0-9]*(?:[._][a-z0-9]+)*_[a-z0-9]+(?:[._][a-z0-9]+)*(?![\w@/-]|:\S)/g;
/** Before a name that an owner has given to a tool, a parameter or a secret, which stays as it is. */
const OWN_NAME = /\b(?:tools?|secrets?|argument|there is no|repeated:) (?:[\w.-]+, )*$/i;
const ID = /^[a-z]{2,4}_[0-9a-z]{26}$/;
const OWN_PROMPT = /\bPrompt agent-agt_[0-9a-z]{26}(-analysis)?/g;
const CSV_LINE = /^csv line (\d+): /;

/**
 * A sentence of the API in the words of the page: fields by their labels instead of their API names.
 * @param path of the field that the sentence begins with, if it is about one
 */
export function worded(sentence: string, path?: string): string {
  const line = CSV_LINE.exec(sentence);
  if (line) return `Line ${line[1]}: ${lowered(worded(sentence.slice(line[0].length)))}`;
  const isNamed = path !== undefined && path !== "" && [" ", ":"].some((after) => sentence.startsWith(path + after));
  const [begins, rest] = isNamed ? [labelOf(path), sentence.slice(path.length)] : ["", sentence];
  const told = rest
    .replace(OWN_PROMPT, (_, isAnalysis) => (isAnalysis ? "An agent's analysis prompt" : "An agent's own prompt"))
    .replace(NAMES, (name, at: number) => {
      if (ID.test(name) || OWN_NAME.test(rest.slice(0, at))) return name;
      return begins === "" && at === 0 ? labelOf(name) : lowered(labelOf(name));
    });
  return begins + told;
}

/** In the middle of a sentence. Acronyms stay as they are. */
export function lowered(text: string): string {
  return /^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}
