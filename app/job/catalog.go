package job

import (
	"lockstep/data"
	"lockstep/model"
)

// Catalog has the networks and data sets that a program knows by name. A nil *Catalog has those that
// come with Lockstep.
type Catalog struct {
	Models model.Catalog
	Data   data.Catalog
}

func (k *Catalog) models() model.Catalog {
	if k == nil {
		return model.Catalog{}
	}
	return k.Models
}

func (k *Catalog) data() data.Catalog {
	if k == nil {
		return data.Catalog{}
	}
	return k.Data
}
