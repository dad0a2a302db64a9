import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, type Schema } from "../../api/client.ts";
import { numberOf } from "../../ui/numbers.ts";
import { ActionsMenu } from "../../ui/overlay/actions-menu.tsx";
import { Confirm } from "../../ui/overlay/confirm.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { MenuItem, MenuLine } from "../../ui/overlay/menu.tsx";
import { tellDone, tellFailure } from "../../ui/overlay/toasts.tsx";
import { DestinationForm } from "./destination-form.tsx";
import { DELIVERIES, DESTINATIONS, type Destination } from "./queries.ts";
import { WebhookSecret } from "./secret.tsx";

type Asked = "edit" | "rotate" | "resend" | "delete";

const DAY_MS = 86_400_000;

/** The actions on a webhook, besides a test. */
export function DestinationMenu({ destination }: { destination: Destination }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [asked, setAsked] = useState<Asked | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const params = { path: { destination_id: destination.destination_id } };
  const { name } = destination;
  const close = () => setAsked(null);
  const refresh = () => client.invalidateQueries({ queryKey: DESTINATIONS });
  const patch = (body: Schema["UpdateDestinationRequest"]) =>
    api.PATCH("/v1/manage/destinations/{destination_id}", { params, body });

  const edit = useMutation({
    mutationFn: patch,
    onSuccess: async () => {
      await refresh();
      tellDone("Saved");
      close();
    },
  });
  const isOn = destination.status === "enabled";
  const turn = useMutation({
    mutationFn: () => patch({ status: isOn ? "disabled" : "enabled" }),
    onSuccess: refresh,
    onError: tellFailure,
  });
  const resend = () => {
    const body = { since: new Date(Date.now() - DAY_MS).toISOString() };
    return api.POST("/v1/manage/destinations/{destination_id}/resend-failed", { params, body });
  };
  return (
    <>
      <ActionsMenu label={`Actions for ${name}`} variant="secondary" className="size-9">
        <MenuItem onSelect={() => setAsked("edit")}>Edit…</MenuItem>
        <MenuItem onSelect={() => turn.mutate()}>{isOn ? "Disable" : "Enable"}</MenuItem>
        <MenuItem disabled={!isOn} onSelect={() => setAsked("resend")}>
          Resend failed…
        </MenuItem>
        <MenuItem onSelect={() => setAsked("rotate")}>Rotate secret…</MenuItem>
        <MenuLine />
        <MenuItem danger onSelect={() => setAsked("delete")}>
          Delete…
        </MenuItem>
      </ActionsMenu>
      <Dialog open={asked === "edit"} onClose={close} title={`Edit “${name}”`}>
        <DestinationForm before={destination} action="Save" write={edit} onCancel={close} />
      </Dialog>
      <Confirm
        open={asked === "resend"}
        onClose={close}
        title={`Resend failed deliveries to “${name}”?`}
        action="Resend"
        write={resend}
        then={({ resent }) => {
          tellDone(
            resent === 0
              ? "No deliveries failed in the last 24 hours"
              : `Resending ${numberOf(resent)} ${resent === 1 ? "delivery" : "deliveries"}`,
          );
          return client.invalidateQueries({ queryKey: DELIVERIES });
        }}
      >
        This resends every delivery that failed in the last 24 hours.
      </Confirm>
      <Confirm
        open={asked === "rotate"}
        onClose={close}
        title={`Rotate the secret of “${name}”?`}
        action="Rotate secret"
        write={() => api.POST("/v1/manage/destinations/{destination_id}/rotate-secret", { params })}
        then={(made) => {
          setSecret(made.secret);
          return refresh();
        }}
      >
        For 24 hours, deliveries are signed with both secrets, so you can update your server without rejecting any.
      </Confirm>
      <Confirm
        open={asked === "delete"}
        onClose={close}
        title={`Delete “${name}”?`}
        action="Delete webhook"
        write={() => api.DELETE("/v1/manage/destinations/{destination_id}", { params })}
        done={`Deleted “${name}”`}
        then={async () => {
          await navigate({ to: "/webhooks", search: {} });
          await refresh();
        }}
      >
        Its pending deliveries are cancelled. This cannot be undone.
      </Confirm>
      <Dialog
        open={secret !== null}
        onClose={() => setSecret(null)}
        title="Copy the new secret now"
        description="It is shown only this once."
      >
        <WebhookSecret secret={secret ?? ""} onDone={() => setSecret(null)} />
      </Dialog>
    </>
  );
}
