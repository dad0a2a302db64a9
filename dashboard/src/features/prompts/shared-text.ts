import { useQuery } from "@tanstack/react-query";
import { versionsQuery } from "./prompts.ts";

/** The text of a prompt in a version, or in its latest; undefined until it is read. @param name null for no prompt */
export function useSharedText(name: string | null, version: number | null): string | undefined {
  const versions = useVersions(name);
  const found = version === null ? versions?.[0] : versions?.find((each) => each.prompt_version === version);
  return found?.prompt_content;
}

/** The number of a prompt's latest version; undefined until it is read. @param name null for no prompt */
export function useLatestVersion(name: string | null): number | undefined {
  return useVersions(name)?.[0]?.prompt_version;
}

function useVersions(name: string | null) {
  return useQuery({ ...versionsQuery(name ?? ""), enabled: name !== null }).data?.versions;
}
