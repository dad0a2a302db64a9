import { useQuery } from "@tanstack/react-query";
import { PhoneIncoming, Plug, Plus } from "lucide-react";
import { useState } from "react";
import { useMaking } from "../../app/making.ts";
import { Button } from "../../ui/button.tsx";
import { Page } from "../../ui/page.tsx";
import { EmptyState, ErrorState, LoadingRows } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";
import { AddNumberDialog } from "./add-number-dialog.tsx";
import { CallPolicy } from "./call-policy.tsx";
import { CarrierList } from "./carrier-list.tsx";
import { ConnectDialog } from "./connect-dialog.tsx";
import { NUMBER_COLUMNS } from "./number-columns.tsx";
import { carriersQuery, numbersQuery } from "./queries.ts";

export function NumbersPage() {
  const [isAdding, setAdding] = useState(false);
  const found = useQuery(carriersQuery);
  const carriers = found.data?.carriers ?? [];
  const numbers = useQuery(numbersQuery);
  const [isConnecting, setConnecting] = useMaking();
  const connect = (
    <Button variant="primary" onClick={() => setConnecting(true)}>
      <Plug aria-hidden /> Connect a carrier
    </Button>
  );
  const add = (
    <Button size="small" onClick={() => setAdding(true)}>
      <Plus aria-hidden /> Add a number
    </Button>
  );
  // An owner without a carrier has one thing to do, and no number to add.
  const hasAny = carriers.length + (numbers.data?.length ?? 0) > 0;
  const failed = [found, numbers].find(({ isLoadingError }) => isLoadingError);
  return (
    <Page
      title="Numbers & carriers"
      description="Connect the accounts that own your phone numbers, and choose which agent answers each number."
      actions={carriers.length > 0 && connect}
    >
      {found.isPending || numbers.isPending ? (
        <LoadingRows rows={4} />
      ) : failed ? (
        <ErrorState error={failed.error} onRetry={() => Promise.all([found.refetch(), numbers.refetch()])} />
      ) : (
        <>
          {carriers.length === 0 ? (
            <EmptyState icon={Plug} title="No carrier connected" action={connect}>
              Connect Twilio, Plivo, a SIP trunk, Daily, or WhatsApp so that your agents can take calls and messages
              there.
            </EmptyState>
          ) : (
            <CarrierList carriers={carriers} />
          )}
          {hasAny && (
            <section className="flex flex-col gap-3">
              <div className="flex flex-wrap items-center justify-between gap-3">
                <h2 className="text-[0.9375rem] font-semibold">Phone numbers</h2>
                {numbers.data?.length !== 0 && add}
              </div>
              {numbers.data?.length === 0 ? (
                <EmptyState icon={PhoneIncoming} title="No numbers yet" action={add}>
                  Import a number from a connected carrier to send its calls to your agents.
                </EmptyState>
              ) : (
                <Table
                  label="Phone numbers"
                  columns={NUMBER_COLUMNS}
                  rows={numbers.data ?? []}
                  rowKey={({ mobile_number }) => mobile_number}
                />
              )}
              <CallPolicy />
            </section>
          )}
        </>
      )}
      <ConnectDialog open={isConnecting} onClose={() => setConnecting(false)} />
      <AddNumberDialog open={isAdding} onClose={() => setAdding(false)} carriers={carriers} />
    </Page>
  );
}
