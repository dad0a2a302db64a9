import type { Option } from "../../../../ui/form/select.tsx";

/** The sounds behind an agent's voice in calls that Parley holds (docs/api-reference.md#built-in-tools). */
export const SOUNDS: readonly Option[] = [
  { value: "office", label: "Office" },
  { value: "cafe", label: "Café" },
  { value: "street", label: "Street" },
];

/** The sounds that callers hear while a tool runs (docs/tools.md#while-a-tool-runs). */
export const TOOL_SOUNDS: readonly Option[] = [
  { value: "typing", label: "Typing" },
  { value: "hold", label: "Waiting tone" },
  ...SOUNDS,
];
