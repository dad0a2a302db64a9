export const TABS = [
  { value: "prompt", label: "Prompt" },
  { value: "models", label: "Models" },
  { value: "tools", label: "Tools" },
  { value: "knowledge", label: "Knowledge" },
  { value: "analysis", label: "Analysis" },
  { value: "channels", label: "Channels" },
  { value: "versions", label: "Versions" },
  { value: "tests", label: "Tests" },
] as const;
type TabName = (typeof TABS)[number]["value"];

/** Where the fields are that are not on the first tab. */
const TAB_OF: Readonly<Record<string, TabName>> = {
  ...{ llm: "models", stt: "models", tts: "models", sts: "models", "call_settings.end_of_turn_silence_ms": "models" },
  ...{ tools: "tools", custom_tools: "tools", handoffs: "tools", knowledge: "knowledge" },
  ...{ call_analysis_enabled: "analysis", call_analysis_prompt: "analysis", call_analysis_schema: "analysis" },
  ...{ agent_mobile_number: "channels", call_settings: "channels", recording: "channels", start_webhook: "channels" },
  ...{ whatsapp: "channels", widget_config: "channels", publishing: "versions" },
};

/** The tab where a field is; null for the header. @param path such as `llm.params.base_url` */
export function tabOf(path: string): TabName | null {
  if (path === "version_note") return null;
  return TAB_OF[path] ?? TAB_OF[path.split(".")[0] ?? ""] ?? "prompt";
}

/** A button to the tab where a field is; nothing on that tab. */
export function WayToField({ path, tab, onTab }: { path: string; tab: string; onTab: (tab: string) => void }) {
  const to = tabOf(path);
  if (to === tab || to === null) return null;
  return (
    <button type="button" className="underline" onClick={() => onTab(to)}>
      Show it in {TABS.find(({ value }) => value === to)?.label}
    </button>
  );
}
