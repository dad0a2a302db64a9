import { useQuery } from "@tanstack/react-query";
import { versionsQuery } from "./prompts.ts";

/** Which version of a prompt an agent uses: a certain one, the one with a label, or neither for always the latest. */
export interface WhichVersion {
  prompt_version?: number | null | undefined;
  prompt_label?: string | null | undefined;
}

/** The text of a prompt in a version; undefined until it is read. @param name null for no prompt */
export function useSharedText(
  name: string | null,
  { prompt_version: version, prompt_label: label }: WhichVersion,
): string | undefined {
  const versions = useQuery({ ...versionsQuery(name ?? ""), enabled: name !== null }).data?.versions;
  const found =
    version == null && label == null
      ? versions?.[0]
      : versions?.find((each) => (label == null ? each.prompt_version === version : each.labels.includes(label)));
  return found?.prompt_content;
}
