import { useQuery } from "@tanstack/react-query";
import { versionsQuery } from "./prompts.ts";

/** The text of a prompt in a version, or in its latest; undefined until it is read. @param name null for no prompt */
export function useSharedText(name: string | null, version: number | null): string | undefined {
  const versions = useQuery({ ...versionsQuery(name ?? ""), enabled: name !== null }).data?.versions;
  const found = version === null ? versions?.[0] : versions?.find((each) => each.prompt_version === version);
  return found?.prompt_content;
}
