package verify

func namedUser(*state) []Finding { return nil }
