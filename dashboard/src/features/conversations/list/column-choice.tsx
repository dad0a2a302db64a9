import { Columns3 } from "lucide-react";
import { useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { Checkbox } from "../../../ui/form/checkbox.tsx";
import { Popover } from "../../../ui/overlay/popover.tsx";
import { CHOSEN_COLUMNS, type ChosenColumn } from "./columns.tsx";

const STORED_AS = "parley.conversation-columns";
const FIRST: readonly ChosenColumn[] = CHOSEN_COLUMNS.filter((name) => name !== "Messages" && name !== "Version");

/** The columns that the viewer chose in this browser, and their setter. */
export function useChosenColumns(): [readonly ChosenColumn[], (chosen: readonly ChosenColumn[]) => void] {
  const [chosen, setChosen] = useState(stored);
  return [
    chosen,
    (next) => {
      setChosen(next);
      localStorage.setItem(STORED_AS, next.join(","));
    },
  ];
}

function stored(): readonly ChosenColumn[] {
  const names = globalThis.localStorage?.getItem(STORED_AS);
  if (names === null || names === undefined) return FIRST;
  const chosen = names.split(",");
  return CHOSEN_COLUMNS.filter((name) => chosen.includes(name));
}

export function ColumnChoice({
  chosen,
  onChange,
}: {
  chosen: readonly ChosenColumn[];
  onChange: (chosen: readonly ChosenColumn[]) => void;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Popover
      label="Columns"
      open={isOpen}
      onOpenChange={setOpen}
      trigger={
        <Button size="small">
          <Columns3 aria-hidden /> Columns
        </Button>
      }
    >
      <div className="flex flex-col gap-2.5">
        {CHOSEN_COLUMNS.map((name) => (
          <Checkbox
            key={name}
            label={name}
            checked={chosen.includes(name)}
            onChange={(isChosen) =>
              onChange(CHOSEN_COLUMNS.filter((each) => (each === name ? isChosen : chosen.includes(each))))
            }
          />
        ))}
        <p className="text-xs text-muted xl:hidden">Narrow windows leave out some columns.</p>
      </div>
    </Popover>
  );
}
