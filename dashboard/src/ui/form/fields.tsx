import type { ComponentType } from "react";
import { type Control, Field, type FieldProps } from "./field.tsx";
import { Input, Textarea } from "./input.tsx";
import { Lines } from "./lines.tsx";
import { NumberInput } from "./number-input.tsx";
import { Select } from "./select.tsx";

// Fields that have nothing but one control.

export const TextField = labeled(Input);
export const TextareaField = labeled(Textarea);
export const NumberField = labeled(NumberInput);
export const SelectField = labeled(Select);
export const LinesField = labeled(Lines);

type LabeledProps<Props> = Omit<FieldProps, "children"> &
  Omit<Props, keyof Control | "className"> & {
    /** The class of the control; `className` is the field's. */
    controlClass?: string;
  };

/** A field whose control gets every property that is not the field's. */
function labeled<Props>(Single: ComponentType<Props>) {
  return function Labeled({ label, hint, error, optional, className, controlClass, ...props }: LabeledProps<Props>) {
    const own = { ...props, ...(controlClass !== undefined && { className: controlClass }) };
    return (
      <Field {...{ label, hint, error, optional, className }}>
        {(control) => <Single {...({ ...control, ...own } as unknown as Props & {})} />}
      </Field>
    );
  };
}
