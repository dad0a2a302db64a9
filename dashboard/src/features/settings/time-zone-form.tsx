import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api } from "../../api/client.ts";
import { Problem, sentenceOf } from "../../api/problem.ts";
import { Button } from "../../ui/button.tsx";
import { SelectField } from "../../ui/form/fields.tsx";
import { timeZoneOptions } from "../../ui/form/time-zones.ts";
import { tellDone } from "../../ui/overlay/toasts.tsx";
import { SETTINGS } from "./settings.ts";

/**
 * Sets the time zone of agents that have none of their own.
 * @param timezone null for UTC; undefined until it is known, which gives the component another key
 */
export function TimeZoneForm({ timezone }: { timezone: string | null | undefined }) {
  const client = useQueryClient();
  const stored = timezone ?? "";
  const [chosen, setChosen] = useState(stored);
  const save = useMutation({
    mutationFn: () => api.PATCH("/v1/manage/settings", { body: { timezone: chosen || null } }),
    onSuccess: async () => {
      tellDone("Saved");
      await client.invalidateQueries({ queryKey: SETTINGS });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  const error = save.error
    ? (save.error instanceof Problem && save.error.fields.get("timezone")) || sentenceOf(save.error)
    : undefined;
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <SelectField
        label="Time zone"
        error={error}
        value={chosen}
        onChange={setChosen}
        disabled={timezone === undefined}
        options={[{ value: "", label: "UTC, the default" }, ...timeZoneOptions(chosen)]}
      />
      <div>
        <Button type="submit" variant="primary" busy={save.isPending} disabled={chosen === stored}>
          Save
        </Button>
      </div>
    </form>
  );
}
