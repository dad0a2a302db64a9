import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api } from "../../api/client.ts";
import { Problem, sentenceOf } from "../../api/problem.ts";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/form/fields.tsx";
import { numberOf } from "../../ui/numbers.ts";
import { Confirm } from "../../ui/overlay/confirm.tsx";
import { tellDone } from "../../ui/overlay/toasts.tsx";
import { SETTINGS } from "./settings.ts";

const DAYS_MAX = 3_650;

/**
 * Sets for how many days conversations are kept; asks before it deletes any.
 * @param days undefined until they are known, which gives the component another key; until then, nothing can be changed
 */
export function RetentionForm({ days }: { days: number | undefined }) {
  const client = useQueryClient();
  const [text, setText] = useState(String(days ?? ""));
  const [isAsking, setAsking] = useState(false);
  const wanted = Number(text);
  const save = useMutation({
    mutationFn: () => api.PATCH("/v1/manage/settings", { body: { retention_days: wanted } }),
    onSuccess: async () => {
      tellDone("Saved");
      await client.invalidateQueries({ queryKey: SETTINGS });
    },
  });
  const error = save.error && !isAsking ? fieldOrSentence(save.error) : undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (wanted < (days ?? 0)) setAsking(true);
    else save.mutate();
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <TextField
        label="Days"
        hint="1 to 3,650. A longer period restores conversations that have not been deleted yet."
        error={error}
        type="number"
        required
        disabled={days === undefined}
        min={1}
        max={DAYS_MAX}
        controlClass="max-w-32 tabular-nums"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <div>
        <Button type="submit" variant="primary" busy={save.isPending} disabled={text === String(days ?? "")}>
          Save
        </Button>
      </div>
      <Confirm
        open={isAsking}
        onClose={() => {
          setAsking(false);
          save.reset();
        }}
        title={`Delete conversations after ${numberOf(wanted)} ${wanted === 1 ? "day" : "days"}?`}
        action="Shorten retention"
        write={() => save.mutateAsync()}
      >
        Older conversations and their recordings are removed immediately. This cannot be undone.
      </Confirm>
    </form>
  );
}

function fieldOrSentence(error: Error): string {
  return (error instanceof Problem && error.fields.get("retention_days")) || sentenceOf(error);
}
