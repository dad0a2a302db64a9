import { useQuery } from "@tanstack/react-query";
import { clsx } from "clsx";
import { Pause, Play } from "lucide-react";
import { RadioGroup } from "radix-ui";
import { useEffect, useRef, useState } from "react";
import { read, type Schema } from "../../../../api/client.ts";
import type { paths } from "../../../../api/gen/schema.ts";
import { Button } from "../../../../ui/button.tsx";
import { TextField } from "../../../../ui/form/fields.tsx";
import { SearchInput } from "../../../../ui/form/search-input.tsx";
import { LOCALE } from "../../../../ui/locale.ts";
import { ErrorState, Skeleton } from "../../../../ui/states.tsx";
import { OwnVoices, VOICES } from "./own-voices.tsx";

type Voice = Schema["Voice"];
type VoiceProvider = paths["/v1/public/voices"]["get"]["parameters"]["query"]["provider"];

const VOICES_MAX = 100;

/** The voices of a provider, each with a sample; a voice that is not listed is entered by its ID. */
export function VoicePicker({
  provider,
  model,
  value,
  onChange,
  error,
}: {
  provider: string;
  model: string | undefined;
  value: string;
  onChange: (voiceId: string) => void;
  error?: string | undefined;
}) {
  const [search, setSearch] = useState("");
  const voices = useQuery(voicesQuery(provider as VoiceProvider, model, search));
  const [playing, play] = usePlayer();
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-end justify-between gap-3">
        <TextField
          label="Voice"
          error={error}
          hint="Choose one below, or enter the ID of a voice that is not listed."
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
        <SearchInput label="Search voices" value={search} onChange={setSearch} />
      </div>
      {voices.isLoadingError ? (
        <ErrorState error={voices.error} onRetry={voices.refetch} />
      ) : voices.isPending ? (
        <Skeleton className="h-40 w-full" />
      ) : (
        <RadioGroup.Root
          aria-label="Voices"
          value={value}
          onValueChange={onChange}
          className="grid max-h-72 gap-1 overflow-y-auto rounded-lg border border-line p-1.5 sm:grid-cols-2"
        >
          {voices.data.voices.map((voice) => (
            <div key={voice.id} className="flex items-center gap-1">
              <RadioGroup.Item
                value={voice.id}
                className={clsx(
                  "min-w-0 flex-1 rounded-md px-2.5 py-1.5 text-left",
                  voice.id === value ? "bg-accent-soft text-accent-ink" : "hover:bg-hover",
                )}
              >
                <span className="block truncate font-medium">{voice.name}</span>
                <span className="block truncate text-xs text-muted">{describe(voice)}</span>
              </RadioGroup.Item>
              {voice.preview_url && (
                <Button
                  variant="ghost"
                  size="icon"
                  aria-label={`${playing === voice.preview_url ? "Stop" : "Play"} ${voice.name}`}
                  onClick={() => play(voice.preview_url)}
                >
                  {playing === voice.preview_url ? <Pause aria-hidden /> : <Play aria-hidden />}
                </Button>
              )}
            </div>
          ))}
          {voices.data.voices.length === 0 && (
            <p className="p-4 text-center text-muted sm:col-span-2">
              {search ? "No matching voices." : "This provider does not list its voices. Enter a voice ID above."}
            </p>
          )}
        </RadioGroup.Root>
      )}
      <OwnVoices provider={provider as VoiceProvider} onAdded={onChange} />
    </div>
  );
}

function voicesQuery(provider: VoiceProvider, model: string | undefined, search: string) {
  const query = { provider, page_size: VOICES_MAX, ...(model && { model }), ...(search && { search }) };
  return {
    queryKey: [...VOICES, query],
    queryFn: ({ signal }: { signal: AbortSignal }) => read(signal, "/v1/public/voices", { query }),
    staleTime: 60_000,
  };
}

function describe({ gender, language }: Voice): string {
  const name = new Intl.DisplayNames(LOCALE, { type: "language" }).of(language) ?? language;
  return `${name}, ${gender.toLowerCase()}`;
}

/** Plays one sample at a time; asking for the one that plays stops it. */
function usePlayer(): [string | null, (url: string | null) => void] {
  const audio = useRef<HTMLAudioElement | null>(null);
  const [playing, setPlaying] = useState<string | null>(null);
  useEffect(() => () => audio.current?.pause(), []);
  const play = (url: string | null) => {
    audio.current?.pause();
    if (url === null || url === playing) return setPlaying(null);
    audio.current = new Audio(url);
    audio.current.onended = () => setPlaying(null);
    setPlaying(url);
    audio.current.play().catch(() => setPlaying(null));
  };
  return [playing, play];
}
