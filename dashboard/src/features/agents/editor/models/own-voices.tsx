import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { api, read, type Schema } from "../../../../api/client.ts";
import { fieldsOf } from "../../../../api/problem.ts";
import { Button } from "../../../../ui/button.tsx";
import { DialogForm } from "../../../../ui/form/dialog-form.tsx";
import { SelectField, TextField } from "../../../../ui/form/fields.tsx";
import { Confirm } from "../../../../ui/overlay/confirm.tsx";
import { Dialog } from "../../../../ui/overlay/dialog.tsx";
import { providerLabel } from "../../provider-labels.ts";

type Voice = Schema["Voice"];
type NewVoice = Schema["AddClonedVoiceRequest"];
type Provider = NewVoice["provider"];

export const VOICES = ["voices"] as const;
const SHOWN_MAX = 100;

/** The voices that the owner has at a provider, such as cloned ones, which the list of all voices then has too. */
export function OwnVoices({ provider, onAdded }: { provider: Provider; onAdded: (voiceId: string) => void }) {
  const [isAdding, setAdding] = useState(false);
  const [removed, setRemoved] = useState<Voice | null>(null);
  const query = { provider, page_size: SHOWN_MAX };
  const voices = useQuery({
    queryKey: [...VOICES, "own", query],
    queryFn: ({ signal }) => read(signal, "/v1/manage/cloned-voices", { query }),
  });
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h3 className="font-medium">
          Your own voices
          <span className="block text-[0.8125rem] font-normal text-muted">
            Voices that only your account at {providerLabel(provider)} has, such as cloned ones.
          </span>
        </h3>
        <Button size="small" onClick={() => setAdding(true)}>
          <Plus aria-hidden /> Add your own voice
        </Button>
      </div>
      {voices.data && voices.data.voices.length > 0 && (
        <ul aria-label="Your own voices" className="flex flex-col gap-1">
          {voices.data.voices.map((voice) => (
            <li key={voice.id} className="flex items-center gap-2 rounded-md border border-line py-1 pr-1 pl-3">
              <span className="min-w-0 flex-1 truncate">
                {voice.name} <code className="font-mono text-xs text-muted">{voice.id}</code>
              </span>
              <Button variant="ghost" size="icon" aria-label={`Remove ${voice.name}`} onClick={() => setRemoved(voice)}>
                <Trash2 aria-hidden />
              </Button>
            </li>
          ))}
        </ul>
      )}
      <Dialog
        open={isAdding}
        onClose={() => setAdding(false)}
        title="Add your own voice"
        description={`Parley lists it with the voices of ${providerLabel(provider)}, for you alone.`}
      >
        <VoiceForm
          provider={provider}
          onCancel={() => setAdding(false)}
          onAdded={(voiceId) => {
            setAdding(false);
            onAdded(voiceId);
          }}
        />
      </Dialog>
      <RemoveVoice provider={provider} voice={removed} onClose={() => setRemoved(null)} />
    </div>
  );
}

function RemoveVoice({ provider, voice, onClose }: { provider: Provider; voice: Voice | null; onClose: () => void }) {
  const client = useQueryClient();
  const params = { path: { provider, voice_id: voice?.id ?? "" } };
  return (
    <Confirm
      open={voice !== null}
      onClose={onClose}
      title={`Remove “${voice?.name}”?`}
      action="Remove voice"
      write={() => api.DELETE("/v1/manage/cloned-voices/{provider}/{voice_id}", { params })}
      done={`Removed “${voice?.name}”`}
      then={() => client.invalidateQueries({ queryKey: VOICES })}
    >
      It stays at {providerLabel(provider)}. Agents that speak with it go on doing so.
    </Confirm>
  );
}

const GENDERS = [
  { value: "FEMALE", label: "Female" },
  { value: "MALE", label: "Male" },
  { value: "NEUTRAL", label: "Neutral" },
];
const TEXTS = [
  { name: "voice_id", label: "Voice ID", hint: "As the provider shows it.", optional: false },
  { name: "name", label: "Name", hint: "To recognize the voice by.", optional: false },
  { name: "language", label: "Language", hint: "Such as en-US.", optional: false },
  { name: "preview_url", label: "Sample URL", hint: "An https:// address of a recording.", optional: true },
] as const;

function VoiceForm({
  provider,
  onCancel,
  onAdded,
}: {
  provider: Provider;
  onCancel: () => void;
  onAdded: (voiceId: string) => void;
}) {
  const client = useQueryClient();
  const [texts, setTexts] = useState({ voice_id: "", name: "", language: navigator.language, preview_url: "" });
  const [gender, setGender] = useState("FEMALE");
  const add = useMutation({
    mutationFn: () => {
      const body = { provider, gender: gender as NewVoice["gender"], ...texts, preview_url: texts.preview_url || null };
      return api.POST("/v1/manage/cloned-voices", { body });
    },
    onSuccess: async ({ id }) => {
      await client.invalidateQueries({ queryKey: VOICES });
      onAdded(id);
    },
  });
  const errors = fieldsOf(add.error);
  return (
    <DialogForm
      onSubmit={() => add.mutate()}
      busy={add.isPending}
      error={add.error}
      action="Add voice"
      onCancel={onCancel}
    >
      {TEXTS.map(({ name, label, hint, optional }) => (
        <TextField
          key={name}
          label={label}
          hint={hint}
          optional={optional}
          error={errors.get(name)}
          required={!optional}
          value={texts[name]}
          onChange={(event) => setTexts({ ...texts, [name]: event.target.value })}
        />
      ))}
      <SelectField label="Gender" error={errors.get("gender")} value={gender} onChange={setGender} options={GENDERS} />
    </DialogForm>
  );
}
