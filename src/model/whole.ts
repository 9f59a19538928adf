/**
 * The same type with every field named, be it as undefined. What is made for every page is made in one piece: objects of
 * one shape are made and read faster than those that are put together from parts, and the type sees to it that no field
 * is forgotten.
 */
export type Whole<T> = { [Key in keyof T]-?: Pick<T, Key> extends Required<Pick<T, Key>> ? T[Key] : T[Key] | undefined }
