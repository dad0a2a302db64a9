import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, type Schema } from "../../api/client.ts";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { DestinationForm } from "./destination-form.tsx";
import { DESTINATIONS } from "./queries.ts";
import { WebhookSecret } from "./secret.tsx";

/** Asks for the address, then shows the secret, once, and leads to the new webhook. */
export function NewDestinationDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [made, setMade] = useState<Schema["NewDestination"] | null>(null);
  const make = useMutation({
    mutationFn: (body: Schema["CreateDestinationRequest"]) => api.POST("/v1/manage/destinations", { body }),
    onSuccess: async (destination) => {
      setMade(destination);
      await client.invalidateQueries({ queryKey: DESTINATIONS });
    },
  });
  const close = () => {
    make.reset();
    if (!made) return onClose();
    setMade(null);
    void navigate({
      to: "/webhooks/$destinationId",
      params: { destinationId: made.destination_id },
      search: {},
    });
  };
  return (
    <Dialog
      open={open}
      onClose={close}
      title={made ? "Copy the secret now" : "New webhook"}
      description={made ? "It is shown only this once." : undefined}
    >
      {made ? (
        <WebhookSecret secret={made.secret} onDone={close} />
      ) : (
        <DestinationForm action="Create webhook" write={make} onCancel={close} />
      )}
    </Dialog>
  );
}
