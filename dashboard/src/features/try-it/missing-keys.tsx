import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Notice } from "../../ui/states.tsx";
import { type Changes, modelSetupQuery, speechSetupQuery } from "../agents/agents.ts";
import { missingKey, type ProviderSetup } from "../agents/editor/models/missing-key.tsx";
import { providerLabel } from "../agents/provider-labels.ts";
import type { Kind } from "./setup.ts";

export interface MissingKey {
  provider: string;
  /** The operator's variable. */
  variable: string;
}

/** The providers without a key that a chat or a call with the agent would need. */
export function useMissingKeys({ llm, stt, tts, sts }: Changes, kind: Kind): MissingKey[] {
  const models = useQuery(modelSetupQuery).data?.llm ?? [];
  const speech = useQuery({ ...speechSetupQuery, enabled: kind === "talk" }).data;
  const among = (setups: readonly ProviderSetup[] = [], ...providers: (string | undefined)[]) => {
    const [first = ""] = providers;
    // A fallback takes over.
    if (providers.some((provider) => provider && !missingKey(setups, provider))) return [];
    return [{ provider: first, variable: missingKey(setups, first) }];
  };
  const fallbacks = (llm?.fallbacks ?? []) as { provider_name: string }[];
  const ofModel = among(models, llm?.provider_name, ...fallbacks.map(({ provider_name }) => provider_name));
  const needed =
    kind === "chat"
      ? ofModel
      : sts
        ? among(speech?.sts, sts.provider_name)
        : [...ofModel, ...among(speech?.stt, stt?.provider_name), ...among(speech?.tts, tts?.provider_name)];
  return needed.flatMap(({ provider, variable }) => (variable ? [{ provider, variable }] : []));
}

/** Says before a conversation why it cannot be held. */
export function MissingKeys({ keys }: { keys: readonly MissingKey[] }) {
  if (keys.length === 0) return null;
  return (
    <div className="border-b border-line p-3">
      <Notice tone="warning">
        {keys.map(({ provider, variable }) => (
          <p key={`${provider} ${variable}`}>
            This server has no API key for {providerLabel(provider)}. Ask its operator to set{" "}
            <code className="font-mono text-[0.8125rem]">{variable}</code>.
          </p>
        ))}
        <p>
          Or{" "}
          <Link from="/agents/$agentId" to="." search={{ tab: "models" }} className="underline">
            choose another provider under Models
          </Link>
          .
        </p>
      </Notice>
    </div>
  );
}
