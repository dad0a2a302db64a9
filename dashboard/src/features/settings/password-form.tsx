import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api } from "../../api/client.ts";
import { fieldsOf } from "../../api/problem.ts";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/form/fields.tsx";
import { Refusable, Refusal } from "../../ui/form/refusal.tsx";
import { tellDone } from "../../ui/overlay/toasts.tsx";
import { SESSIONS } from "./settings.ts";

const LENGTH_MIN = 15;
const EMPTY = { current_password: "", new_password: "" };

export function PasswordForm() {
  const client = useQueryClient();
  const [body, setBody] = useState(EMPTY);
  const change = useMutation({
    mutationFn: () => api.POST("/v1/manage/password", { body }),
    onSuccess: async () => {
      setBody(EMPTY);
      tellDone("Password changed");
      await client.invalidateQueries({ queryKey: SESSIONS });
    },
  });
  const fields = fieldsOf(change.error);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate();
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-4">
      <Refusable>
        <TextField
          label="Current password"
          error={fields.get("current_password")}
          type="password"
          required
          autoComplete="current-password"
          value={body.current_password}
          onChange={(event) => setBody({ ...body, current_password: event.target.value })}
        />
        <TextField
          label="New password"
          hint="At least 15 characters. A sentence works well."
          error={fields.get("new_password")}
          type="password"
          required
          minLength={LENGTH_MIN}
          autoComplete="new-password"
          value={body.new_password}
          onChange={(event) => setBody({ ...body, new_password: event.target.value })}
        />
        <Refusal error={change.error} />
      </Refusable>
      <div>
        <Button type="submit" variant="primary" busy={change.isPending}>
          Change password
        </Button>
      </div>
    </form>
  );
}
