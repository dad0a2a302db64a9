import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { PhoneOff, SearchX } from "lucide-react";
import { type FormEvent, useState } from "react";
import { api, read, type Schema } from "../../api/client.ts";
import { fieldsOf } from "../../api/problem.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/form/field.tsx";
import { Input } from "../../ui/form/input.tsx";
import { Refusable, Refusal } from "../../ui/form/refusal.tsx";
import { SearchInput } from "../../ui/form/search-input.tsx";
import { Listed } from "../../ui/listed.tsx";
import { ConfirmButton } from "../../ui/overlay/confirm-button.tsx";
import { tellDone } from "../../ui/overlay/toasts.tsx";
import { EmptyState } from "../../ui/states.tsx";
import type { Column } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { numbersQuery } from "../numbers/queries.ts";
import { loadReader } from "./phone-number-field.tsx";

const DO_NOT_CALL = ["do-not-call"] as const;
const SHOWN = 25;

type Listing = Schema["DoNotCallNumber"];

/** The numbers that no agent calls, neither alone nor in a batch. */
export function DoNotCall() {
  const { page, search } = useSearch({ from: "/signed-in/calls" });
  const navigate = useNavigate({ from: "/calls" });
  const list = useQuery({
    queryKey: [...DO_NOT_CALL, search ?? "", page ?? 1],
    queryFn: ({ signal }) => {
      const query = { page: page ?? 1, page_size: SHOWN, ...(search !== undefined && { search }) };
      return read(signal, "/v1/manage/do-not-call", { query });
    },
    placeholderData: (before) => before,
  });
  const show = (wanted: { search?: string; page?: number | undefined }) =>
    navigate({ search: { tab: "do-not-call", ...wanted } });
  const isFiltered = search !== undefined;
  return (
    <div className="flex flex-col gap-5">
      <AddForm />
      {(isFiltered || (list.data?.total ?? 0) > 0) && (
        <SearchInput
          label="Search numbers"
          value={search ?? ""}
          onChange={(text) => void show(text === "" ? {} : { search: text })}
        />
      )}
      <Listed
        query={list}
        rows={list.data?.numbers}
        page={page}
        pageSize={SHOWN}
        onPage={(next) => show({ ...(isFiltered && { search }), page: next })}
        label="Do-not-call list"
        columns={COLUMNS}
        rowKey={({ mobile_number }) => mobile_number}
        empty={
          isFiltered ? (
            <EmptyState
              icon={SearchX}
              title="No matching numbers"
              action={<Button onClick={() => void show({})}>Clear search</Button>}
            >
              Your agents may call this number.
            </EmptyState>
          ) : (
            <EmptyState icon={PhoneOff} title="No numbers on the list">
              Your agents never call numbers on this list, and batches skip them.
            </EmptyState>
          )
        }
      />
    </div>
  );
}

function AddForm() {
  const client = useQueryClient();
  const [text, setText] = useState("");
  // Without a calling number, that of the owner's first one tells the country.
  const from = useQuery(numbersQuery).data?.[0]?.mobile_number;
  const add = useMutation({
    mutationFn: async () => {
      const calledNumber = await loadReader();
      return api.POST("/v1/manage/do-not-call", { body: { mobile_number: calledNumber(text, from) } });
    },
    onSuccess: async ({ mobile_number }) => {
      setText("");
      tellDone(`${mobile_number} will no longer be called`);
      await client.invalidateQueries({ queryKey: DO_NOT_CALL });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add.mutate();
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-3">
      <Refusable>
        <Field
          label="Phone number"
          hint="For example, +14155550123, or as you dial it in the country of your first number."
          error={fieldsOf(add.error).get("mobile_number")}
        >
          {(control) => (
            <div className="flex max-w-md gap-2">
              <Input {...control} type="tel" required value={text} onChange={(event) => setText(event.target.value)} />
              <Button type="submit" busy={add.isPending}>
                Add to list
              </Button>
            </div>
          )}
        </Field>
        <Refusal error={add.error} />
      </Refusable>
    </form>
  );
}

const COLUMNS: readonly Column<Listing>[] = [
  {
    name: "Number",
    className: "w-full font-medium tabular-nums whitespace-nowrap",
    cell: ({ mobile_number }) => mobile_number,
  },
  {
    name: "Added",
    align: "right",
    className: "text-muted",
    cell: ({ created_at }) => <Time at={created_at} relative />,
  },
  {
    name: "Actions",
    label: <span className="sr-only">Actions</span>,
    align: "right",
    cell: ({ mobile_number }) => <Remove number={mobile_number} />,
  },
];

function Remove({ number }: { number: string }) {
  const client = useQueryClient();
  const params = { path: { mobile_number: number } };
  return (
    <ConfirmButton
      button={{ size: "small", "aria-label": `Remove ${number}` }}
      label="Remove"
      title={`Let agents call ${number} again?`}
      action="Remove from list"
      write={() => api.DELETE("/v1/manage/do-not-call/{mobile_number}", { params })}
      done={`${number} can be called again`}
      then={() => client.invalidateQueries({ queryKey: DO_NOT_CALL })}
    >
      Make sure that this person no longer objects to being called.
    </ConfirmButton>
  );
}
