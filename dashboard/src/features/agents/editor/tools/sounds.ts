import type { Option } from "../../../../ui/form/select.tsx";

/** The sounds of calls that Parley holds (docs/api-reference.md#built-in-tools). */
export const SOUNDS: readonly Option[] = [
  { value: "office", label: "Office" },
  { value: "cafe", label: "Café" },
];
