import { Link } from "@tanstack/react-router";
import { Webhook } from "lucide-react";
import { useState } from "react";
import type { Schema } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/states.tsx";
import { DeliveryList } from "./delivery-list.tsx";

/** The deliveries of a conversation's event. */
export function ConversationDeliveries({ conversation }: { conversation: Schema["Conversation"] }) {
  const [page, setPage] = useState(1);
  const isTest = conversation.conversation_metadata.is_test_call === true;
  return (
    <DeliveryList
      filter={{ conversation_id: conversation.conversation_id, page }}
      onPage={setPage}
      empty={
        <EmptyState
          icon={Webhook}
          title="No deliveries"
          action={
            <Button asChild>
              <Link to="/webhooks" search={{}}>
                Go to webhooks
              </Link>
            </Button>
          }
        >
          {isTest
            ? "Test conversations are not sent to webhooks."
            : conversation.conversation_status === "IN_PROGRESS"
              ? "The event is sent to your webhooks when the conversation ends."
              : "The event is sent up to a minute after the conversation ends. If you had no webhooks then, it was not sent."}
        </EmptyState>
      }
    />
  );
}
