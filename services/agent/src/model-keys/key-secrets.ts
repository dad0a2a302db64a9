import type { NamedKey } from "../store/stored-keys.ts";
import type { SecretUse } from "../tools/tool-uses.ts";

interface Model {
  params?: NamedKey | undefined;
}

interface Speech {
  endpoint?: NamedKey | undefined;
}

/** The models of an agent, given or stored. */
interface Models {
  stt: Speech | null | undefined;
  llm: (Model & { fallbacks: readonly Model[] }) | null | undefined;
  tts: Speech | null | undefined;
}

/** The owner's secrets that are keys of an agent's models. */
export function keySecretsOf({ stt, llm, tts }: Models): SecretUse[] {
  const keys: [string, NamedKey | undefined][] = [
    ["stt", stt?.endpoint],
    ["llm", llm?.params],
    ...(llm?.fallbacks ?? []).map(({ params }, at): [string, NamedKey | undefined] => [`llm.fallbacks.${at}`, params]),
    ["tts", tts?.endpoint],
  ];
  return keys.flatMap(([path, key]) =>
    key?.keySecret === undefined ? [] : [{ path: `${path}.params.api_key.secret`, name: key.keySecret }],
  );
}
