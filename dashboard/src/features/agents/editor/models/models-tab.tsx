import { useQuery } from "@tanstack/react-query";
import { Plus, X } from "lucide-react";
import { Button } from "../../../../ui/button.tsx";
import { TextField } from "../../../../ui/form/fields.tsx";
import { Section, Sections } from "../../../../ui/form/section.tsx";
import { ErrorState, LoadingRows } from "../../../../ui/states.tsx";
import { modelSetupQuery, providersQuery, speechSetupQuery } from "../../agents.ts";
import type { AgentDraft } from "../draft.ts";
import { forgetBelow } from "./entered.ts";
import { LlmFields, type LlmValue } from "./llm-fields.tsx";
import { StsFields } from "./sts-fields.tsx";
import { SttFields, type SttValue } from "./stt-fields.tsx";
import { TtsFields, type TtsValue } from "./tts-fields.tsx";

const FALLBACKS_MAX = 3;
const NO_SETUPS = { stt: [], tts: [], sts: [] };
const SILENCE_DEFAULT_MS = 500;

/** The models that the agent thinks, speaks and hears with. */
export function ModelsTab({ draft }: { draft: AgentDraft }) {
  const { values, set, errorAt, entered } = draft;
  const providers = useQuery(providersQuery);
  const setup = useQuery(modelSetupQuery);
  // Without it, providers are only not marked.
  const speech = useQuery(speechSetupQuery).data ?? NO_SETUPS;
  if (providers.isLoadingError) return <ErrorState error={providers.error} onRetry={providers.refetch} />;
  if (setup.isLoadingError) return <ErrorState error={setup.error} onRetry={setup.refetch} />;
  if (!providers.data || !setup.data) return <LoadingRows rows={4} />;
  const catalogue = { models: providers.data.llm, setups: setup.data.llm };
  const llm = values.llm as (LlmValue & { fallbacks?: LlmValue[] | null }) | null;
  const fallbacks = llm?.fallbacks ?? [];
  const setFallbacks = (next: LlmValue[]) => llm && set({ llm: { ...llm, fallbacks: next } as never });
  const proposed = setup.data.default_llm as LlmValue | null;
  return (
    <Sections>
      <Section title="Language model" description="Writes what the agent says.">
        <LlmFields
          value={llm && withoutFallbacks(llm)}
          onChange={(next) => set({ llm: (next && { ...next, ...(fallbacks.length > 0 && { fallbacks }) }) as never })}
          catalogue={catalogue}
          entered={entered}
          path="llm"
          errorAt={errorAt}
        />
        {llm && (
          <div className="flex flex-col gap-3">
            <h3 className="font-medium">
              Fallbacks
              <span className="block text-[0.8125rem] font-normal text-muted">
                If a model does not start to reply, the next one in this list takes over.
              </span>
            </h3>
            {fallbacks.map((fallback, at) => (
              <div key={at} className="relative rounded-lg border border-line p-4 pr-12">
                <LlmFields
                  value={fallback}
                  onChange={(next) => next && setFallbacks(fallbacks.with(at, next))}
                  catalogue={catalogue}
                  entered={entered}
                  path={`llm.fallbacks.${at}`}
                  errorAt={errorAt}
                />
                <Button
                  variant="ghost"
                  size="icon"
                  aria-label={`Remove fallback ${at + 1}`}
                  className="absolute top-2 right-2"
                  onClick={() => {
                    forgetBelow(entered, "llm.fallbacks");
                    setFallbacks(fallbacks.toSpliced(at, 1));
                  }}
                >
                  <X aria-hidden />
                </Button>
              </div>
            ))}
            {fallbacks.length < FALLBACKS_MAX && (
              <Button
                size="small"
                className="self-start"
                onClick={() => setFallbacks([...fallbacks, withoutFallbacks(proposed ?? llm)])}
              >
                <Plus aria-hidden /> Add fallback
              </Button>
            )}
          </div>
        )}
      </Section>
      <Section title="Voice" description="Speaks the model's text on calls.">
        <TtsFields
          value={values.tts as TtsValue | null}
          onChange={(tts) => set({ tts: tts as never })}
          models={providers.data.tts}
          setups={speech.tts}
          entered={entered}
          errorAt={errorAt}
        />
      </Section>
      <Section title="Speech recognition" description="Transcribes what people say on calls.">
        <SttFields
          value={values.stt as SttValue | null}
          onChange={(stt) => set({ stt: stt as never })}
          models={providers.data.stt}
          setups={speech.stt}
          entered={entered}
          errorAt={errorAt}
        />
      </Section>
      <Section
        title="Speech to speech"
        description="One model that hears and speaks, in place of the three above on calls. Chats use the language model."
      >
        <StsFields
          value={values.sts ?? null}
          onChange={(sts) => set({ sts })}
          setups={speech.sts}
          entered={entered}
          errorAt={errorAt}
        />
      </Section>
      <Section title="Turn-taking">
        <TextField
          label="Pause before the agent answers"
          hint="Milliseconds of silence that end a person's turn. With a shorter pause, the agent answers sooner; with a longer one, it interrupts less."
          error={errorAt("call_settings.end_of_turn_silence_ms")}
          className="max-w-xs"
          type="number"
          min={200}
          max={3000}
          step={50}
          placeholder={String(SILENCE_DEFAULT_MS)}
          value={values.call_settings?.end_of_turn_silence_ms ?? ""}
          onChange={({ target }) => {
            const { end_of_turn_silence_ms: _, ...others } = values.call_settings ?? {};
            set({
              call_settings: target.value === "" ? others : { ...others, end_of_turn_silence_ms: Number(target.value) },
            });
          }}
        />
      </Section>
    </Sections>
  );
}

function withoutFallbacks({ fallbacks: _, ...llm }: LlmValue & { fallbacks?: unknown }): LlmValue {
  return llm;
}
